package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"
)

// file is a file of an archive.
type file struct {
	name string // with slashes
	data []byte
	mode int64
}

// tarOf returns an uncompressed tar archive with the files in the given order, without owners.
func tarOf(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.data)), Mode: f.mode, ModTime: at, Format: tar.FormatUSTAR}
		if len(f.name) > 0 && f.name[len(f.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// tgzOf returns a compressed tar archive.
func tgzOf(files []file, at time.Time) ([]byte, error) {
	plain, err := tarOf(files, at)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// zipOf returns a zip archive with the files in the given order.
func zipOf(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at.UTC()}
		h.SetMode(os.FileMode(f.mode))
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// archives writes an archive for each platform, with the whole command, and one with the checking verbs alone.
func (r *release) archives() error {
	for _, p := range r.platforms {
		for _, kind := range []struct{ name, binary, extras string }{
			{"stepback", p.binary, r.build}, {"stepback-checks", p.checks, ""},
		} {
			binary, err := os.ReadFile(kind.binary)
			if err != nil {
				return err
			}
			dir := fmt.Sprintf("%s-%s-%s", kind.name, r.version, p)
			files := []file{{dir + "/stepback" + p.exe(), binary, 0o755}}
			for _, f := range r.common {
				files = append(files, file{path.Join(dir, f.name), f.data, f.mode})
			}
			if kind.extras != "" {
				for _, name := range []string{"completions/stepback.bash", "completions/stepback.zsh", "completions/stepback.fish", "man/stepback.1"} {
					text, err := os.ReadFile(filepath.Join(kind.extras, filepath.FromSlash(name)))
					if err != nil {
						return err
					}
					files = append(files, file{path.Join(dir, name), text, 0o644})
				}
			}
			pack, suffix := tgzOf, ".tar.gz"
			if p.system == "windows" {
				pack, suffix = zipOf, ".zip"
			}
			packed, err := pack(files, r.time)
			if err != nil {
				return err
			}
			if err := r.save(dir+suffix, packed); err != nil {
				return err
			}
		}
	}
	return nil
}
