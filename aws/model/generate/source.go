package main

import (
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"strings"
)

// newestModels reads the newest model of each service from an archive, by the service's name in botocore.
func newestModels(archive string) (map[string]string, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer func() { _ = z.Close() }()
	files, versions := map[string]*zip.File{}, map[string]string{}
	for _, f := range z.File {
		name, version, ok := versionOf(f.Name)
		if _, known := files[name]; ok && (!known || versions[name] < version) {
			files[name], versions[name] = f, version
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no API models", archive)
	}
	texts := map[string]string{}
	for name, f := range files {
		if texts[name], err = read(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return texts, nil
}

// versionOf returns the service and the version from a file's name.
func versionOf(file string) (name, version string, ok bool) {
	folder, base := path.Split(file)
	switch {
	case folder == "" && strings.HasSuffix(base, ".json"):
		return strings.TrimSuffix(base, ".json"), "", true
	case base == "service-2.json" || base == "service-2.json.gz":
		folder, version = path.Split(strings.TrimSuffix(folder, "/"))
		return path.Base(folder), version, true
	}
	return "", "", false
}

func read(f *zip.File) (string, error) {
	file, err := f.Open()
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	var r io.Reader = file
	if strings.HasSuffix(f.Name, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			return "", err
		}
	}
	text, err := io.ReadAll(r)
	return string(text), err
}
