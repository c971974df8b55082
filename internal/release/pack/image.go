package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The usual ID of a user that is not root.
const user = 65532

// images writes the image of the linux binaries: an OCI layout with all machines, as a tar archive, and for docker load
// one archive a machine.
func (r *release) images() error {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range r.platforms {
		if p.system != "linux" {
			continue
		}
		image, err := r.image(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			MediaType: types.OCIManifestSchema1, Platform: &v1.Platform{OS: p.system, Architecture: p.machine},
		}})
		tag, err := name.NewTag("stepback:" + r.version)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := tarball.Write(tag, image, &b); err != nil {
			return err
		}
		if err := r.save(fmt.Sprintf("stepback-%s-image-docker-%s.tar", r.version, p.machine), b.Bytes()); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "oci")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// AppendIndex names the image; its entry in index.json is the one that docker and podman read.
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := l.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": "docker.io/library/stepback:" + r.version,
	})); err != nil {
		return err
	}
	var files []file
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			files = append(files, file{filepath.ToSlash(relative) + "/", nil, 0o755})
			return nil
		}
		data, err := os.ReadFile(path)
		files = append(files, file{filepath.ToSlash(relative), data, 0o644})
		return err
	})
	if err != nil {
		return err
	}
	packed, err := tarOf(files, r.time)
	if err != nil {
		return err
	}
	return r.save("stepback-"+r.version+"-image-oci.tar", packed)
}

// image returns the image of a platform: the command, root certificates, licences and an empty data directory.
func (r *release) image(p platform) (v1.Image, error) {
	binary, err := os.ReadFile(p.binary)
	if err != nil {
		return nil, err
	}
	base := []file{
		{"etc/", nil, 0o755}, {"etc/ssl/", nil, 0o755}, {"etc/ssl/certs/", nil, 0o755},
		{"etc/passwd", fmt.Appendf(nil, "root:x:0:0:root:/:/stepback\nnonroot:x:%d:%d:nonroot:/data:/stepback\n", user, user), 0o644},
		{"etc/group", fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", user), 0o644},
		{"etc/ssl/certs/ca-certificates.crt", roots(), 0o644},
		{"tmp/", nil, 0o1777}, {"data/", nil, 0o755},
	}
	for _, f := range r.common[:1] {
		base = append(base, f)
	}
	base = append(base, r.common[len(r.common)-1])
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	for _, files := range [][]file{base, {{"stepback", binary, 0o755}}} {
		layer, err := r.layer(files)
		if err != nil {
			return nil, err
		}
		if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{
			Created: v1.Time{Time: r.time.UTC()}, CreatedBy: "stepback make release",
		}}); err != nil {
			return nil, err
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.system, p.machine, v1.Time{Time: r.time.UTC()}
	config.Config = v1.Config{
		User: fmt.Sprintf("%d:%d", user, user), WorkingDir: "/data", Env: []string{"PATH=/", "TMPDIR=/data", "HOME=/data"},
		Entrypoint: []string{"/stepback"}, ExposedPorts: map[string]struct{}{"4566/tcp": {}},
		// --public is needed because connections to a published port come from outside the container.
		Cmd:     []string{"serve", "--public", "--listen", "0.0.0.0:4566", "--data", "/data"},
		Volumes: map[string]struct{}{"/data": {}},
		Labels:  map[string]string{"org.opencontainers.image.title": "stepback", "org.opencontainers.image.version": r.version},
	}
	return mutate.ConfigFile(image, config)
}

// layer returns a layer of the image; only the data directory belongs to the user.
func (r *release) layer(files []file) (v1.Layer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.data)), Mode: f.mode, ModTime: r.time, Format: tar.FormatUSTAR}
		if f.name[len(f.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if f.name == "data/" {
			h.Uid, h.Gid = user, user
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
}

// roots returns Mozilla's root certificates in PEM.
func roots() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
	}
	return b.Bytes()
}
