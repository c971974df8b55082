package httpclient_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"stepback/adaptive/breaker"
	"stepback/resilience/httpclient"
	"stepback/retry"
)

func ExampleNew() {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests == 1 {
			// it may have taken effect: the key shows that it is the same request
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "ordered once, the key has ", len(r.Header.Get("Idempotency-Key")), " characters")
	}))
	defer server.Close()

	circuit := breaker.Callee()
	transport, err := httpclient.New(httpclient.Config{
		Policy:   &retry.Policy{Interval: time.Millisecond, Rate: 2, MaxAttempts: 3},
		Breaker:  &circuit,
		MakeKeys: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := http.Client{Transport: transport}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL, strings.NewReader("tea"))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(requests, "requests:", string(body))
	// Output: 2 requests: ordered once, the key has 38 characters
}
