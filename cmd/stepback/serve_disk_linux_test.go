package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"stepback/cmd/stepback/serve"
	"stepback/cmd/stepback/terminal"
)

// transcript collects what a server prints while it runs.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
	came chan struct{}
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.came <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

// find waits until the server has printed text that matches pattern, and returns the match.
func (s *transcript) find(t *testing.T, pattern string) []string {
	t.Helper()
	for {
		s.mu.Lock()
		found := regexp.MustCompile(pattern).FindStringSubmatch(s.text.String())
		s.mu.Unlock()
		if found != nil {
			return found
		}
		select {
		case <-s.came:
		case <-t.Context().Done():
			t.Fatalf("the server has not said %q", pattern)
		}
	}
}

// fill fills the disk with a file and returns a function that frees the space again.
func fill(t *testing.T, dir, name string) func() {
	t.Helper()
	path := filepath.Join(dir, name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	_ = f.Close() // an error does not matter: the disk is full
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// TestServeGoesOnWhenThereIsRoomAgain fills the disk, including the reserved space, and frees it again: the server
// resumes work.
func TestServeGoesOnWhenThereIsRoomAgain(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=12m"); err != nil {
		t.Skipf("a small file system cannot be mounted here (it takes root on Linux): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	said, ended := &transcript{came: make(chan struct{}, 1)}, make(chan error, 1)
	c := &serve.Serve{Listen: "127.0.0.1:0", Data: filepath.Join(disk, "data"), Account: "000000000000",
		Region: "us-east-1", Reserve: 1 << 20}
	go func() { ended <- c.Run(ctx, terminal.Streams{Out: io.Discard, Err: said}) }()
	address := said.find(t, `http://(127\.0\.0\.1:\d+)\n`)[1]
	post(t, address, "CreateStateMachine", `{"name":"m","roleArn":"arn:aws:iam::000000000000:role/r","definition":`+
		`"{\"StartAt\":\"W\",\"States\":{\"W\":{\"Type\":\"Wait\",\"Seconds\":3600,\"End\":true}}}"}`)
	number := 0
	start := func() (name, answer string) {
		number++
		name = fmt.Sprintf("e%d", number)
		input := make([]byte, 30_000)
		_, _ = rand.Read(input) // rand.Read never fails
		return name, post(t, address, "StartExecution", fmt.Sprintf(
			`{"stateMachineArn":"arn:aws:states:us-east-1:000000000000:stateMachine:m","name":%q,"input":"{\"x\":\"%s\"}"}`,
			name, base64.StdEncoding.EncodeToString(input)))
	}
	var acknowledged []string
	until := func(want string) {
		t.Helper()
		for range 10_000 {
			name, answer := start()
			if strings.Contains(answer, "executionArn") {
				acknowledged = append(acknowledged, name)
			}
			if strings.Contains(answer, want) {
				return
			}
		}
		t.Fatalf("no answer contains %q", want)
	}
	until("executionArn")
	free := fill(t, disk, "filler")
	until("The disk of the data directory is full") // the reserved space is released
	freeReserve := fill(t, disk, "more")
	stopped := make(chan string, 1)
	go func() { // the stop has to wait for space; a client over the network would retry
		stopped <- post(t, address, "StopExecution", fmt.Sprintf(
			`{"executionArn":"arn:aws:states:us-east-1:000000000000:execution:m:%s","cause":"%s"}`, acknowledged[0],
			strings.Repeat("c", 30_000)))
	}()
	said.find(t, "executions wait until space is freed")
	if _, answer := start(); !strings.Contains(answer, "The disk of the data directory is full") {
		t.Errorf("a new execution on a full disk is answered %s", answer)
	}
	free()
	freeReserve()
	if answer := <-stopped; !strings.Contains(answer, "stopDate") {
		t.Errorf("the stop that had to wait is answered %s", answer)
	}
	until("executionArn")
	for i, name := range acknowledged {
		answer := post(t, address, "DescribeExecution",
			`{"executionArn":"arn:aws:states:us-east-1:000000000000:execution:m:`+name+`"}`)
		if want := map[bool]string{true: "ABORTED", false: "RUNNING"}[i == 0]; !strings.Contains(answer, want) {
			t.Errorf("%s is not %s: %.200s", name, want, answer)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
