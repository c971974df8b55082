package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// The floor is a bare Go HTTP server. It reads a request, stores its body as far as the recorded request changes
// something, and sends a response of the same bytes as stepback's.
//
// On a disk, it stores bodies as records in Pebble with group commit, and responds when they are synced; objects become
// files without a sync, as stepback serve stores them. In memory, it stores nothing.

// Where data are stored.
const (
	onDisk   = "disk"
	inMemory = "memory"
)

// learnPath is the path at which the floor receives the response to requests of one kind.
const learnPath = "/learn"

// kindOf returns what distinguishes the requests of a workload from one another.
func kindOf(r *http.Request) string { return r.Method + " " + r.Header.Get("X-Amz-Target") }

// floor is the handler of the floor.
type floor struct {
	db      *pebble.DB // nil if nothing is stored
	objects string     // the directory of objects
	next    atomic.Uint64
	learned map[string]*lesson // by kindOf; changed between measurements only
}

// lesson is the response to requests of one kind.
type lesson struct {
	header http.Header
	body   []byte
	stores bool
}

// serveFloor serves a floor until the process is killed, and prints its address.
func serveFloor(ctx context.Context, data string) error {
	f := &floor{learned: map[string]*lesson{}}
	if data == onDisk {
		dir, err := os.MkdirTemp("", "stepback-floor-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if f.db, err = pebble.Open(filepath.Join(dir, "records"), &pebble.Options{Logger: silent{}}); err != nil {
			return err
		}
		defer f.db.Close()
		if f.objects = filepath.Join(dir, "objects"); os.Mkdir(f.objects, 0o700) != nil {
			return errors.New("the directory of objects cannot be created")
		}
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, l.Addr())
	server := &http.Server{Handler: f} //nolint:gosec // clients are this command
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the process that started this one
		_ = server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.URL.Path == learnPath {
		err = f.learn(r.URL.Query(), body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
		return
	}
	l := f.learned[kindOf(r)]
	if l == nil {
		http.Error(w, "the response to "+kindOf(r)+" is not known", http.StatusNotFound)
		return
	}
	if l.stores && f.db != nil {
		if err := f.store(r.Method, body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	for name, values := range l.header {
		w.Header()[name] = values
	}
	_, _ = w.Write(l.body) // the client notices missing data
}

// learn stores the response to the requests of a kind.
func (f *floor) learn(query url.Values, response []byte) error {
	answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(response)), nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	answer.Header.Del("Date") // the server adds its own
	f.learned[query.Get("kind")] = &lesson{answer.Header, body, query.Has("stores")}
	return err
}

// store stores the body of a request as a new object or record.
func (f *floor) store(method string, body []byte) error {
	key := fmt.Sprintf("%016d", f.next.Add(1))
	if method == http.MethodPut {
		return os.WriteFile(filepath.Join(f.objects, key), body, 0o600)
	}
	return f.db.Set([]byte(key), body, pebble.Sync) // Pebble groups waiting writers
}

// replay records one repetition of a workload, teaches the floor at host the responses, and returns an action that
// sends the recorded requests to it.
func replay(ctx context.Context, act func(*connection) error, from, host string) (func(*connection) error, error) {
	c, err := dial(ctx, from)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	to, err := dial(ctx, host)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	var requests [][]byte
	var problem error
	c.recorded = func(request, response []byte) {
		requests = append(requests, request)
		problem = errors.Join(problem, teach(to, request, response))
	}
	if err := errors.Join(act(c), problem); err != nil {
		return nil, err
	}
	return func(c *connection) error {
		for _, r := range requests {
			if _, err := c.ask(r); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// teach sends the response to a request to the floor.
func teach(to *connection, request, response []byte) error {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
	if err != nil {
		return err
	}
	query := url.Values{"kind": {kindOf(r)}}
	if changes(r) {
		query.Set("stores", "true")
	}
	_, err = to.ask([]byte("POST " + learnPath + "?" + query.Encode() + " HTTP/1.1\r\nHost: floor\r\nContent-Length: " +
		strconv.Itoa(len(response)) + "\r\n\r\n" + string(response)))
	return err
}

// changes reports whether a response to a request may be sent only once something is stored.
func changes(r *http.Request) bool {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return r.Method != http.MethodGet && operation != "ReceiveMessage" && operation != "StartSyncExecution"
}

// silent discards Pebble's own messages.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}
