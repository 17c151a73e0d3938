// Receives events, and verifies them with the service's public key: go run public_key.go
package main

import (
	"crypto/ed25519"
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
func isGenuine(key ed25519.PublicKey, headers http.Header, body []byte) bool {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	if age := time.Since(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return false
	}
	content := append([]byte(id+"."+timestamp+"."), body...)
	for _, entry := range strings.Split(headers.Get("webhook-signature"), " ") {
		if !strings.HasPrefix(entry, "v1a,") {
			continue
		}
		signature, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(entry, "v1a,"))
		if err == nil && ed25519.Verify(key, content, signature) {
			return true
		}
	}
	return false
}

func main() {
	encoded := strings.TrimPrefix(os.Getenv("WEBHOOK_PUBLIC_KEY"), "whpk_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) != ed25519.PublicKeySize {
		log.Fatal("WEBHOOK_PUBLIC_KEY is not a public key")
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
		if !isGenuine(key, r.Header, body) || json.Unmarshal(body, &event) != nil {
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
