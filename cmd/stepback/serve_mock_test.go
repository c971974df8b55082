package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestServeRefusesABrokenMockConfiguration(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "MockConfigFile.json")
	if err := os.WriteFile(path, []byte(`{"StateMachines": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &serveCmd{Listen: "127.0.0.1:0", Data: t.TempDir(), Account: "000000000000", Region: "us-east-1", Mock: path}
	err := c.Run(t.Context(), streams{out: io.Discard, err: io.Discard})
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != exitUsage || !strings.Contains(err.Error(),
		path+": MockedResponses must be an object") {
		t.Errorf("got %v", err)
	}
}
