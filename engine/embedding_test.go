package engine_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestEmbeddingLinksNoMore checks which packages a program links that runs an engine: no file formats, no protocol
// buffers and no AWS client.
func TestEmbeddingLinksNoMore(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not in the PATH")
	}
	out, err := exec.CommandContext(t.Context(), tool, "list", "-deps", "stepback/engine").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		for _, heavy := range []string{"parquet", "protobuf", "go-geom", "aws-sdk-go", "smithy-go", "pebble"} {
			if strings.Contains(pkg, heavy) {
				t.Errorf("stepback/engine links %s", pkg)
			}
		}
	}
}
