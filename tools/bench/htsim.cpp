// Bulk flows both ways over one bottleneck, in htsim (Broadcom/csg-htsim), for tools/bench/htsim.py.
//
// Usage: bulk FLOWS SECONDS LIMIT [edges]. Half of the flows go each way: 100 Mbit/s, 25 ms, a FIFO of LIMIT packets of
// 1500 bytes; with `edges` also links of 1 Gbit/s between hosts and routers. It prints how many packets left the
// bottleneck.

#include <cstdlib>
#include <iostream>

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

struct Counting : Queue {
    uint64_t sent = 0;
    Counting(linkspeed_bps rate, mem_b size, EventList& events) : Queue(rate, size, events, nullptr) {}
    void completeService() override {
        ++sent;
        Queue::completeService();
    }
};

int main(int argc, char** argv) {
    const int flows = atoi(argv[1]), limit = atoi(argv[3]);
    const bool edges = argc > 4;
    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(atof(argv[2])));
    srand(1);
    Packet::set_packet_size(1500);
    Counting* bottleneck[2];
    Pipe* delay[2];
    Queue* edge[2][2];
    for (int way = 0; way < 2; way++) {
        bottleneck[way] = new Counting(speedFromMbps(uint64_t(100)), mem_b(limit) * 1500, events);
        delay[way] = new Pipe(timeFromMs(25.0), events);
        for (Queue*& one : edge[way]) {
            one = new Queue(speedFromMbps(uint64_t(1000)), mem_b(10000) * 1500, events, nullptr);
        }
    }
    TcpRtxTimerScanner timers(timeFromMs(10.0), events);
    for (int i = 0; i < flows; i++) {
        auto* source = new TcpSrc(nullptr, nullptr, events);
        auto* sink = new TcpSink();
        auto route = [&](int way, PacketSink* end) {
            auto* made = new Route();
            if (edges) made->push_back(edge[way][0]);
            made->push_back(bottleneck[way]);
            made->push_back(delay[way]);
            if (edges) made->push_back(edge[way][1]);
            made->push_back(end);
            return made;
        };
        source->connect(*route(i % 2, sink), *route(1 - i % 2, source), *sink, timeFromMs(double(i % 10)));
        timers.registerTcp(*source);
    }
    while (events.doNextEvent()) {
    }
    std::cerr << bottleneck[0]->sent + bottleneck[1]->sent << "\n";
}
