// Opens the envelopes that a receiver reports: ./by_hand | ./open. Uses Go's standard library only.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

type envelope struct {
	Sender  string `json:"sender"`
	Message string `json:"message"`
	Code    string `json:"code"`
}

// openEnvelope returns nil if the service refuses the envelope permanently.
func openEnvelope(id string) (*envelope, error) {
	body, err := json.Marshal(map[string]string{"envelope_id": id})
	if err != nil {
		return nil, err
	}
	for {
		url := os.Getenv("SEALPOST_URL") + "/v1/channel/open"
		request, err := http.NewRequest("POST", url, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("SESSION_TOKEN"))
		request.Header.Set("X-DID-API-Key", os.Getenv("API_KEY"))
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		var opened envelope
		err = json.NewDecoder(response.Body).Decode(&opened)
		response.Body.Close()
		switch {
		case err != nil:
			return nil, err
		case response.StatusCode == http.StatusOK:
			return &opened, nil
		case response.StatusCode != http.StatusTooManyRequests &&
			response.StatusCode != http.StatusServiceUnavailable:
			log.Println(id, response.StatusCode, opened.Code)
			return nil, nil
		}
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil {
			seconds = 1
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

func act(opened *envelope) {
	fmt.Printf("%s: %s\n", opened.Sender, opened.Message) // Your work comes here.
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		id, isNew := strings.CutPrefix(lines.Text(), "new envelope ")
		if !isNew {
			continue
		}
		opened, err := openEnvelope(id)
		if err != nil {
			log.Fatal(err)
		}
		if opened != nil {
			act(opened)
		}
	}
}
