package main

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestServeInMemory serves from memory: the data are gone at the end, also after a kill when the next server starts,
// and work beyond the limit is refused.
func TestServeInMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a file system in memory that every user can write to")
	}
	v := &tortured{t: t, data: "memory", client: &http.Client{}}
	dir := func() string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.address+"/_stepback/health", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := v.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		health := make([]byte, 1<<16)
		n, _ := answer.Body.Read(health)
		if !strings.Contains(string(health[:n]), `"ephemeral":true`) {
			t.Errorf("health is %s", health[:n])
		}
		found := ""
		for _, base := range []string{"/dev/shm", os.TempDir()} {
			entries, _ := os.ReadDir(base)
			for _, e := range entries {
				server, err := os.ReadFile(base + "/" + e.Name() + "/server.json")
				if err == nil && strings.Contains(string(server), v.address) {
					found = base + "/" + e.Name()
				}
			}
		}
		if found == "" {
			t.Fatal("the directory of the server is not found")
		}
		return found
	}
	gone := func(path string) {
		t.Helper()
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	v.begin()
	v.must("AmazonSQS.CreateQueue", map[string]any{"QueueName": "orders"})
	first := dir()
	v.kill()
	if _, err := os.Stat(first); err != nil {
		t.Errorf("a killed server leaves its directory: %v", err)
	}
	v.begin()
	gone(first)
	if got := v.must("AmazonSQS.ListQueues", map[string]any{}); got["QueueUrls"] != nil {
		t.Errorf("queues of the server before: %v", got)
	}
	second := dir()
	if err := v.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := v.cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	gone(second)
}
