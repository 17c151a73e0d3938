// Receives events and verifies them with Go's standard library: go run by_hand.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	bodyBytesMax = 64 * 1024
	tolerance    = 5 * time.Minute
)

// In production, use a table with a unique column: an event may arrive again days later.
var seen sync.Map

// Whether one of the signatures is correct and at most five minutes old.
func isGenuine(secret []byte, headers http.Header, body []byte) bool {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	if age := time.Since(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, entry := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal(expected, []byte(entry)) {
			return true
		}
	}
	return false
}

func main() {
	encoded := strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_")
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(secret) == 0 {
		log.Fatal("WEBHOOK_SECRET is not a webhook secret")
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		// Raw bytes: the signature does not match re-encoded JSON.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyBytesMax))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		var event struct {
			EnvelopeID string `json:"envelope_id"`
		}
		if !isGenuine(secret, r.Header, body) || json.Unmarshal(body, &event) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if _, before := seen.LoadOrStore(r.Header.Get("webhook-id"), true); !before {
			// Put the event into a queue and process it later.
			fmt.Println("new envelope", event.EnvelopeID)
		}
		w.WriteHeader(http.StatusNoContent) // Any 2xx, also for a repeated event.
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "8090"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s/\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
