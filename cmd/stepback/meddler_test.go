package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// meddler is a proxy between Lambda's Runtime API and a real bootstrap that it has started. It kills the bootstrap,
// loses its responses, or replaces the imported file during an invocation. It runs as the test binary, started by a
// script that meddling writes.
type meddler struct {
	upstream string // the Runtime API
	how      string
	folder   string // what is remembered across processes
	real     *exec.Cmd

	mu    sync.Mutex
	event []byte // the event being processed
}

// meddling creates a copy of a folder of bootstraps in which the process function runs behind a meddler. If how is
// "replace", the folder has a file named replacement, whose content replaces the imported file.
func meddling(t *testing.T, bootstraps, how, replacement string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"validate", "process", "aggregate"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		real, to := filepath.Join(bootstraps, name, "bootstrap"), filepath.Join(dir, name, "bootstrap")
		if name != "process" {
			if err := os.Symlink(real, to); err != nil {
				t.Fatal(err)
			}
			continue
		}
		script := fmt.Sprintf("#!/bin/sh\nSTEPBACK_TEST_MEDDLES=%s STEPBACK_TEST_FOLDER='%s' STEPBACK_TEST_REAL='%s' exec '%s'\n",
			how, dir, real, self)
		if err := os.WriteFile(to, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "replacement"), []byte(replacement), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// meddle runs the bootstrap until it ends. It does not return.
func meddle(how string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	m := &meddler{upstream: os.Getenv("AWS_LAMBDA_RUNTIME_API"), how: how, folder: os.Getenv("STEPBACK_TEST_FOLDER"),
		real: exec.Command(os.Getenv("STEPBACK_TEST_REAL"))}
	m.real.Env = append(os.Environ(), "AWS_LAMBDA_RUNTIME_API="+listener.Addr().String())
	m.real.Stdout, m.real.Stderr = os.Stdout, os.Stderr
	go func() { _ = http.Serve(listener, m) }()
	if err := m.real.Start(); err != nil {
		panic(err)
	}
	_ = m.real.Wait()
	os.Exit(m.real.ProcessState.ExitCode())
}

// ServeHTTP forwards a request to the Runtime API.
func (m *meddler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		m.die()
	}
	m.mu.Lock()
	event := m.event
	m.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/response") && m.how == "lose" &&
		(bytes.Contains(event, []byte(`"row":250,`)) || m.first(event)) {
		m.die() // the rows are committed, but the response is lost
	}
	on, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+m.upstream+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		m.die()
	}
	on.Header = r.Header.Clone()
	answer, err := http.DefaultTransport.RoundTrip(on)
	if err != nil {
		m.die()
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		m.die()
	}
	if strings.HasSuffix(r.URL.Path, "/invocation/next") {
		m.begin(text)
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(text)
}

// begin is called before the bootstrap gets an event.
func (m *meddler) begin(event []byte) {
	m.mu.Lock()
	m.event = event
	m.mu.Unlock()
	switch {
	case m.how == "crash" && bytes.Contains(event, []byte("poison")):
		m.die()
	case m.how == "replace" && m.first([]byte(`{}`)):
		text, err := os.ReadFile(filepath.Join(m.folder, "replacement"))
		if err != nil {
			m.die()
		}
		put, err := http.NewRequest(http.MethodPut, os.Getenv("AWS_ENDPOINT_URL")+"/csv-input/activity.csv", bytes.NewReader(text))
		if err != nil {
			m.die()
		}
		put.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20261127/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0")
		answer, err := http.DefaultClient.Do(put)
		if err != nil || answer.StatusCode != http.StatusOK {
			m.die()
		}
		_ = answer.Body.Close()
	}
}

// first reports whether no process has seen the event's rows before.
func (m *meddler) first(event []byte) bool {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(event, &fields); err != nil {
		m.die()
	}
	delete(fields, "attempt")
	rows, err := json.Marshal(fields)
	if err != nil {
		m.die()
	}
	digest := sha256.Sum256(rows)
	f, err := os.OpenFile(filepath.Join(m.folder, hex.EncodeToString(digest[:])), os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// die ends the bootstrap and this process as a crash would.
func (m *meddler) die() {
	_ = m.real.Process.Kill()
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}
