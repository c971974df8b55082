package recordings

import (
	"archive/tar"
	"bytes"
	_ "embed" // the archive
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

// variable is the environment variable that names a folder of recordings to use instead of the archive.
const variable = "STEPBACK_CONFORMANCE"

//go:embed recordings.tar.zst
var archive []byte

// FS returns the recordings: those in the folder that variable names or, if it is not set, those in the archive. It
// returns an error if the folder does not exist, because without recordings every comparison would pass.
func FS() (fs.FS, error) {
	folder := os.Getenv(variable)
	if folder == "" {
		return unpacked()
	}
	if _, err := os.Stat(folder); err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	return os.DirFS(folder), nil
}

// unpacked unpacks the archive (eight megabytes) once.
var unpacked = sync.OnceValues(func() (fs.FS, error) {
	packed, err := zstd.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	files := fstest.MapFS{}
	for r := tar.NewReader(packed); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("recordings.tar.zst: %w", err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("recordings.tar.zst: %w", err)
		}
		files[strings.TrimPrefix(header.Name, "./")] = &fstest.MapFile{Data: text, Mode: 0o444}
	}
})
