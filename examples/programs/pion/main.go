// Two WebRTC peers: the server answers an offer by HTTP, the client sends messages and waits for their echoes.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/pion/webrtc/v4"
)

const messages, size = 500, 4000

// must ends the program with what went wrong.
func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func peer() *webrtc.PeerConnection {
	engine := webrtc.SettingEngine{}
	engine.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	return must(webrtc.NewAPI(webrtc.WithSettingEngine(engine)).NewPeerConnection(webrtc.Configuration{}))
}

// describe sets a description, and returns it once all addresses are in it.
func describe(own *webrtc.PeerConnection, description webrtc.SessionDescription) []byte {
	gathered := webrtc.GatheringCompletePromise(own)
	must(0, own.SetLocalDescription(description))
	<-gathered
	return must(json.Marshal(own.LocalDescription()))
}

func answer(writer http.ResponseWriter, request *http.Request) {
	var offer webrtc.SessionDescription
	must(0, json.NewDecoder(request.Body).Decode(&offer))
	own := peer()
	own.OnDataChannel(func(channel *webrtc.DataChannel) {
		channel.OnMessage(func(message webrtc.DataChannelMessage) { channel.Send(message.Data[:8]) })
	})
	must(0, own.SetRemoteDescription(offer))
	writer.Write(describe(own, must(own.CreateAnswer(nil))))
}

func call(address string) {
	own := peer()
	channel := must(own.CreateDataChannel("echo", nil))
	echoes := make(chan struct{}, messages)
	began := time.Now()
	channel.OnMessage(func(webrtc.DataChannelMessage) { echoes <- struct{}{} })
	channel.OnOpen(func() {
		for range messages {
			channel.Send(make([]byte, size))
		}
	})
	offer := describe(own, must(own.CreateOffer(nil)))
	response := must(http.Post("http://"+address, "application/json", bytes.NewReader(offer)))
	var description webrtc.SessionDescription
	must(0, json.NewDecoder(response.Body).Decode(&description))
	must(0, own.SetRemoteDescription(description))
	for range messages {
		<-echoes
	}
	fmt.Printf("%d messages echoed after %v\n", messages, time.Since(began))
}

func main() {
	if os.Args[1] == "serve" {
		must(0, http.ListenAndServe(os.Args[2], http.HandlerFunc(answer)))
	} else {
		call(os.Args[2])
	}
}
