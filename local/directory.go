package local

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"stepback/internal/atomicfile"
	"stepback/internal/ownerfs"
	"stepback/local/endpoint"
)

// The files by which processes share a data directory: the first process locks it and writes its address there.
const (
	lockFile   = "lock"
	serverFile = "server.json"
)

// Server describes how to reach the process that has a data directory open.
type Server struct {
	// Endpoint is the URL of the process. PID is its process ID. Version is the version of its program.
	Endpoint string `json:"endpoint"`
	PID      int    `json:"pid"`
	Version  string `json:"version"`
	// Token authenticates clients to the process. Anyone who can read the directory can read the token.
	Token string `json:"token"`
}

// InUseError reports that another process has a data directory open.
type InUseError struct {
	Dir string
	// Server describes how to reach that process; nil if it has not announced itself yet.
	Server *Server
}

// Error implements error.
func (e *InUseError) Error() string {
	if e.Server == nil {
		return fmt.Sprintf("the data directory %s is in use by another process, which is starting or ending", e.Dir)
	}
	return fmt.Sprintf("the data directory %s is in use by process %d, which serves it at %s", e.Dir, e.Server.PID,
		e.Server.Endpoint)
}

// lock locks the directory against other processes. The lock ends with the process, for whatever reason.
func (p *Platform) lock(context.Context) error {
	held, err := ownerfs.System.Lock(filepath.Join(p.Dir, lockFile))
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory: %w", err)
	}
	if err != nil {
		server, e := readServer(p.Dir)
		if e != nil {
			return e
		}
		return &InUseError{p.Dir, server}
	}
	p.onClose(held.Close)
	return p.protect()
}

// storeDirs are the directories of a data directory. The CSV import keeps its reports in the last one.
var storeDirs = []string{"documents", "dynamodb", "inventory", "journal", "kms", "lambda", "logs", "objects", "sqs", "reports"}

// ownName reports whether a name in a data directory belongs to stepback: also the database of the CSV import, with the
// files that SQLite keeps beside it, the records of adapt, and what data repair has moved aside.
func ownName(name string) bool {
	return slices.Contains(storeDirs, name) || slices.Contains(ownFiles, name) || name == lockFile ||
		name == serverFile ||
		strings.HasPrefix(name, "adapt-") || strings.HasPrefix(name, "retry-configuration-") ||
		name == "users.db" || strings.HasPrefix(name, "users.db-") || strings.HasPrefix(name, "damaged-") ||
		strings.Contains(name, ".damaged-")
}

// protect closes the directory and its stores to other users of the machine: older versions let them read what they
// wrote. A directory that contains something else as well stays as it is, and a warning says so.
func (p *Platform) protect() error {
	for _, name := range storeDirs {
		if _, err := ownerfs.Tighten(filepath.Join(p.Dir, name)); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
	}
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	for _, e := range entries {
		if ownName(e.Name()) {
			continue
		}
		info, err := os.Stat(p.Dir)
		if err == nil && info.Mode().Perm()&^ownerfs.Dir != 0 && runtime.GOOS != "windows" {
			p.cfg.Log.Warn("other users of this machine may enter the data directory, but not its stores; it stays as it is because "+
				"it contains other files", "directory", p.Dir, "permissions", info.Mode().Perm().String(), "for example", e.Name())
		}
		return err
	}
	if _, err := ownerfs.Tighten(p.Dir); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return nil
}

// announce writes the platform's address for processes that find the directory in use.
func (p *Platform) announce(context.Context) error {
	path := filepath.Join(p.Dir, serverFile)
	text, err := json.Marshal(Server{p.Endpoint, os.Getpid(), p.cfg.Version, p.token})
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, text, 0o600); err != nil {
		return err
	}
	p.onClose(func() error { return os.Remove(path) })
	return nil
}

func newToken() string { return rand.Text() }

// Running returns how to reach the process that has a data directory open; nil if there is none.
func Running(ctx context.Context, dir string) (*Server, error) {
	server, err := readServer(dir)
	if server == nil || err != nil {
		return nil, err
	}
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := server.do(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, nil //nolint:nilnil // it was killed: nobody answers there
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		return nil, nil //nolint:nilnil // the address is somebody else's now
	}
	return server, nil
}

// readServer returns how to reach a directory's process; nil if none has announced itself.
func readServer(dir string) (*Server, error) {
	text, err := os.ReadFile(filepath.Join(dir, serverFile))
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		return nil, nil //nolint:nilnil // nobody serves what is no directory, either
	}
	s := new(Server)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; remove it if no stepback runs on the directory",
			filepath.Join(dir, serverFile), err)
	}
	return s, nil
}

const tokenHeader = "X-Stepback-Token"

// Ask sends a request to the server's Config.Control. The caller closes the response body.
func (s *Server) Ask(ctx context.Context, body io.Reader) (*http.Response, error) {
	return s.do(ctx, http.MethodPost, body)
}

func (s *Server) do(ctx context.Context, method string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.Endpoint+endpoint.ControlPath, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set(tokenHeader, s.Token)
	return http.DefaultClient.Do(r)
}

// control accepts requests that carry the token: GET confirms that the platform is running, POST calls
// Config.Control.
func (p *Platform) control(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(tokenHeader)), []byte(p.token)) != 1 {
		http.Error(w, "The token is not that of "+serverFile+" in the data directory.", http.StatusForbidden)
		return
	}
	switch {
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPost && p.cfg.Control != nil:
		p.cfg.Control(p, w, r)
	default:
		http.Error(w, "This process does not accept clients.", http.StatusNotImplemented)
	}
}
