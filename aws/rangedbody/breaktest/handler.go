// Package breaktest breaks HTTP connections in the middle of response bodies, for tests of clients that read on.
package breaktest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
)

// Handler returns the responses of next, an S3 server, and breaks the connection within the body of most responses to
// GetObject with a body of two bytes or more: at an offset drawn from seed, sometimes before the first byte, with a
// reset or an orderly end. Broken returns how many it broke. It never breaks two responses in a row, so that clients
// always advance.
func Handler(next http.Handler, seed uint64) (handler http.Handler, broken func() int) {
	draw := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	count, last := 0, false
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			body := answer.Body.Bytes()
			mu.Lock()
			cut, reset := len(body), draw.IntN(2) == 0
			if r.Method == http.MethodGet && !r.URL.Query().Has("list-type") && len(body) > 1 && answer.Code/100 == 2 && !last {
				cut = draw.IntN(len(body))
				count++
			}
			last = cut < len(body)
			mu.Unlock()
			if cut == len(body) {
				for name, values := range answer.Header() {
					w.Header()[name] = values
				}
				w.WriteHeader(answer.Code)
				_, _ = w.Write(body) // the client may have gone
				return
			}
			conn, buffered, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err) // a server of HTTP/1 can always be hijacked
			}
			defer conn.Close()
			answer.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = fmt.Fprintf(buffered, "HTTP/1.1 %d OK\r\n", answer.Code)
			_ = answer.Header().Write(buffered)
			_, _ = buffered.WriteString("\r\n")
			_, _ = buffered.Write(body[:cut])
			_ = buffered.Flush()
			if c, ok := conn.(*net.TCPConn); ok && reset && cut > 0 {
				_ = c.SetLinger(0)
			}
		}), func() int {
			mu.Lock()
			defer mu.Unlock()
			return count
		}
}
