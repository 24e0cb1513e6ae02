// A server that sends what is asked for over one QUIC stream, and a client that asks for it.
package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"os"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
)

func serve(address string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	certificate := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"count"}}
	listener, err := quic.ListenAddr(address, config, nil)
	if err != nil {
		return err
	}
	for {
		connection, err := listener.Accept(context.Background())
		if err != nil {
			return err
		}
		go func() {
			stream, err := connection.AcceptStream(context.Background())
			if err != nil {
				return
			}
			text, _ := io.ReadAll(stream)
			bytes, _ := strconv.Atoi(string(text))
			stream.Write(make([]byte, bytes))
			stream.Close()
		}()
	}
}

func fetch(address, bytes string) error {
	config := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"count"}}
	began := time.Now()
	connection, err := quic.DialAddr(context.Background(), address, config, nil)
	if err != nil {
		return err
	}
	stream, err := connection.OpenStreamSync(context.Background())
	if err != nil {
		return err
	}
	stream.Write([]byte(bytes))
	stream.Close()
	n, err := io.Copy(io.Discard, stream)
	fmt.Printf("%d bytes in %v\n", n, time.Since(began))
	return err
}

func main() {
	var err error
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		err = serve(os.Args[2])
	} else {
		err = fetch(os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
