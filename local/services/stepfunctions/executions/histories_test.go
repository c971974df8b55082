package executions

import (
	"strings"
	"testing"

	"stepback/engine/history"
)

func TestHistories(t *testing.T) {
	t.Parallel()
	large := []history.Event{{ID: 1, Data: strings.Repeat("a", maxHistories/2-200)}}
	h := &histories{}
	h.keep("a", []history.Event{{ID: 7}})
	h.keep("b", large)
	h.keep("a", large) // replaces the other one
	if h.get("a")[0].ID != 1 || h.get("b") == nil || h.get("c") != nil {
		t.Errorf("%d are kept", len(h.kept))
	}
	h.keep("c", large) // b is the oldest now
	if h.get("a") == nil || h.get("b") != nil || h.get("c") == nil {
		t.Errorf("%d are kept", len(h.kept))
	}
	h.keep("d", append(large, append(large, large...)...)) // too large to be cached at all
	if h.get("d") != nil || h.get("a") == nil {
		t.Errorf("%d are kept", len(h.kept))
	}
	h.forget("a")
	h.forget("c")
	h.forget("d")
	if len(h.kept) != 0 || h.size != 0 {
		t.Errorf("%d are kept with %d bytes", len(h.kept), h.size)
	}
}
