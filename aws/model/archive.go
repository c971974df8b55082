package model

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

//go:embed models.zip
var embedded []byte

// maxModel limits the text of one service's model; EC2's is 1.2 MB.
const maxModel = 32 << 20

// Archive is a set of models. The zero value is empty; NewArchive reads one.
type Archive struct {
	files map[string]*zip.File
	names []string

	mu     sync.Mutex
	loaded map[string]*loading
}

// loading makes sure that a service is loaded only once.
type loading struct {
	once    sync.Once
	service *Service
	err     error
}

// NewArchive reads the directory of an archive written by `make models`. It does not read any model yet.
func NewArchive(archive []byte) (*Archive, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("the archive of API models is damaged: %w; `make models` writes it anew", err)
	}
	a := &Archive{files: make(map[string]*zip.File, len(z.File)), loaded: map[string]*loading{}}
	for _, f := range z.File {
		a.files[f.Name] = f
		a.names = append(a.names, f.Name)
	}
	slices.Sort(a.names)
	return a, nil
}

// Services lists the names of all services, sorted.
func (a *Archive) Services() []string { return slices.Clone(a.names) }

// Find loads a service by its name. It returns an *UnknownServiceError, or an error that describes the damage to
// the archive.
func (a *Archive) Find(name string) (*Service, error) {
	f, ok := a.files[name]
	if !ok {
		return nil, &UnknownServiceError{Name: name, Similar: nearest(name, a.names)}
	}
	a.mu.Lock()
	l, ok := a.loaded[name]
	if !ok {
		l = &loading{}
		a.loaded[name] = l
	}
	a.mu.Unlock()
	l.once.Do(func() {
		if l.service, l.err = load(f); l.err != nil {
			l.err = fmt.Errorf("the API model of %s is damaged: %w; `make models` writes it anew", name, l.err)
		}
	})
	return l.service, l.err
}

func load(f *zip.File) (*Service, error) {
	if f.UncompressedSize64 > maxModel {
		return nil, errors.New("it is too large")
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(io.LimitReader(r, maxModel))
	if err != nil {
		return nil, err
	}
	return Parse(f.Name, string(text))
}

var builtIn = sync.OnceValues(func() (*Archive, error) { return NewArchive(embedded) })

// Find loads a service of the built-in archive by its name. This is the name that the SDK for Java uses, in lower
// case: sfn, eventbridge, cloudwatchlogs. Find returns an *UnknownServiceError, or an error that describes the
// damage to the archive.
func Find(name string) (*Service, error) {
	a, err := builtIn()
	if err != nil {
		return nil, err
	}
	return a.Find(name)
}

// MustFind is like Find, for services that this program itself calls. It panics if the archive inside the binary is
// damaged or lacks the service. A test of this package makes sure that this does not happen.
func MustFind(name string) *Service {
	s, err := Find(name)
	if err != nil {
		panic(err)
	}
	return s
}

// Services lists the names of all services of the built-in archive, sorted.
func Services() []string {
	a, err := builtIn()
	if err != nil {
		return nil
	}
	return a.Services()
}
