package cloudformation_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/cloudformation"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/documents"
)

// things implements the resource type Test::A::Thing, whose resources are created by name.
type things struct {
	mu    sync.Mutex
	there map[string]bool
	made  func(name string) // called before a thing exists
}

func (s *things) types() resource.Set {
	return resource.Set{"Test::A::Thing": {Name: "Test::A::Thing", Properties: map[string]resource.Property{"Size": {}},
		Create: func(_ context.Context, r *resource.Request) (resource.State, error) {
			name := r.Name(64)
			s.made(r.LogicalID)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.there[name] = true
			return resource.State{ID: name}, nil
		},
		Delete: func(_ context.Context, r *resource.Request) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.there, r.ID)
			return nil
		}}}
}

// noAPI is never called, because the type creates its resources itself.
type noAPI struct{}

func (noAPI) Call(context.Context, string, string, any, any) error { return nil }

func (noAPI) Object(context.Context, string, string, string) ([]byte, error) { return nil, nil }

func ask(t *testing.T, h http.Handler, form url.Values) string {
	t.Helper()
	form.Set("Version", "2010-05-15")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}

// TestADeploymentOnAFullDisk rejects every write to the disk once the second of three resources is about to be
// created. The deployment stops, and requests get the reason. Once there is space and the store is reopened, it
// continues: nothing is created twice under other names, and nothing is left over.
func TestADeploymentOnAFullDisk(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	disk := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.ENOSPC
		}
		return nil
	}))
	second := make(chan struct{})
	made := &things{there: map[string]bool{}, made: func(name string) {
		if name == "Second" {
			full.Store(true)
			close(second)
		}
	}}
	c := clock.Real()
	defer c.Close()
	open := func() (*cloudformation.Service, *documents.Store) {
		store, err := documents.Open("/documents", disk)
		if err != nil {
			t.Fatal(err)
		}
		s, err := cloudformation.Open(cloudformation.Options{Documents: store, Clock: c, Types: made.types(),
			API: func(aws.Scope, resource.Identity) cloudformation.API { return noAPI{} }})
		if err != nil {
			t.Fatal(err)
		}
		s.Resume()
		return s, store
	}
	s, store := open()
	template, err := json.Marshal(map[string]any{"Resources": map[string]any{
		"First":  map[string]any{"Type": "Test::A::Thing"},
		"Second": map[string]any{"Type": "Test::A::Thing", "DependsOn": "First"},
		"Third":  map[string]any{"Type": "Test::A::Thing", "DependsOn": "Second"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, s.Handler(), url.Values{"Action": {"CreateStack"}, "StackName": {"s"}, "TemplateBody": {string(template)}}); !strings.Contains(got, "StackId") {
		t.Fatal(got)
	}
	select {
	case <-second:
	case <-t.Context().Done():
		t.Fatal("the second resource is never made")
	}
	if got := ask(t, s.Handler(), url.Values{"Action": {"UpdateTerminationProtection"}, "StackName": {"s"},
		"EnableTerminationProtection": {"true"}}); !strings.Contains(got, "cannot be read or written") || !strings.Contains(got, "no space left on device") {
		t.Error(got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_ = store.Close() // it has rejected writes
	if got := len(made.there); got != 2 {
		t.Errorf("%d resources are there, want the two that were made before the disk was full", got)
	}
	made.made = func(string) {}
	full.Store(false)
	s, store = open()
	for {
		got := ask(t, s.Handler(), url.Values{"Action": {"DescribeStacks"}, "StackName": {"s"}})
		if strings.Contains(got, "CREATE_COMPLETE") {
			break
		}
		if !strings.Contains(got, "CREATE_IN_PROGRESS") || t.Context().Err() != nil {
			t.Fatal(got)
		}
	}
	if got := len(made.there); got != 3 {
		t.Errorf("%d resources are there, want 3: %v", got, made.there)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
