package stepback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"stepback/engine/itemreader"
)

// Files is an object store for distributed Maps in a folder: bucket "data" is the subfolder "data", and an object's
// key is the path of its file below that. Close releases the folder.
type Files struct{ root *os.Root }

// OpenFiles opens a folder as an object store. Keys cannot refer to files outside it.
func OpenFiles(folder string) (*Files, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	return &Files{root}, nil
}

// Close releases the folder.
func (f *Files) Close() error { return f.root.Close() }

var _ Objects = (*Files)(nil)

// Get implements Objects. Versions and owners are ignored.
func (f *Files) Get(_ context.Context, bucket, key, _, _ string) (io.ReadCloser, int64, error) {
	file, err := f.root.Open(path.Join(bucket, key))
	if err != nil {
		return nil, 0, missing(bucket, key, err)
	}
	about, err := file.Stat()
	if err == nil && about.IsDir() {
		err = fmt.Errorf("s3://%s/%s is a folder", bucket, key)
	}
	if err != nil {
		_ = file.Close() // the other error says more
		return nil, 0, err
	}
	return file, about.Size(), nil
}

// List implements Objects.
func (f *Files) List(ctx context.Context, bucket, prefix, token string) ([]itemreader.ListedObject, string, error) {
	const pageSize = 1000
	var all []itemreader.ListedObject
	err := fs.WalkDir(f.root.FS(), path.Clean(bucket), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return cmp.Or(err, ctx.Err())
		}
		key := strings.TrimPrefix(name, path.Clean(bucket)+"/")
		if !strings.HasPrefix(key, prefix) || key <= token {
			return nil
		}
		about, err := entry.Info()
		if err != nil {
			return err
		}
		all = append(all, itemreader.ListedObject{
			Key: key, ETag: etag(about), Size: about.Size(), LastModified: about.ModTime().UTC(),
		})
		return nil
	})
	if err != nil {
		return nil, "", missing(bucket, prefix, err)
	}
	slices.SortFunc(all, func(a, b itemreader.ListedObject) int { return strings.Compare(a.Key, b.Key) })
	if len(all) > pageSize {
		return all[:pageSize], all[pageSize-1].Key, nil
	}
	return all, "", nil
}

// Put implements Objects.
func (f *Files) Put(_ context.Context, bucket, key string, body io.ReadSeeker, _ int64) (err error) {
	name := path.Join(bucket, key)
	if err := f.root.MkdirAll(path.Dir(name), 0o750); err != nil {
		return err
	}
	part := name + ".part"
	file, err := f.root.Create(part)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, body)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, f.root.Remove(part))
	}
	return f.root.Rename(part, name)
}

// Version implements engine.Versions, so that a Map Run that resumes after a crash notices when its file has changed.
func (f *Files) Version(_ context.Context, bucket, key, _, _ string) (string, error) {
	about, err := f.root.Stat(path.Join(bucket, key))
	if err != nil {
		return "", missing(bucket, key, err)
	}
	return etag(about), nil
}

// etag identifies the content of a file by its modification time and size.
func etag(about fs.FileInfo) string {
	return fmt.Sprintf("\"%x-%x\"", about.ModTime().UnixNano(), about.Size())
}

// missing converts an error of opening a file to an error that names the object.
func missing(bucket, key string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no object s3://%s/%s", bucket, key)
	}
	return fmt.Errorf("s3://%s/%s: %w", bucket, key, err)
}
