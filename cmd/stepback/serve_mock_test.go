package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/serve"
	"stepback/cmd/stepback/terminal"
)

func TestServeRefusesABrokenMockConfiguration(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "MockConfigFile.json")
	if err := os.WriteFile(path, []byte(`{"StateMachines": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &serve.Serve{Listen: "127.0.0.1:0", Data: t.TempDir(), Account: "000000000000", Region: "us-east-1", Mock: path}
	err := c.Run(t.Context(), terminal.Streams{Out: io.Discard, Err: io.Discard})
	var failed *exit.Error
	if !errors.As(err, &failed) || failed.Code != exit.Usage || !strings.Contains(err.Error(),
		path+": MockedResponses must be an object") {
		t.Errorf("got %v", err)
	}
}
