// Package spool collects an object of unknown length in a temporary file, so that it can be stored with a known
// length and without holding it in memory.
//
// It never leaves a file behind after Close.
package spool

import (
	"context"
	"io"
	"os"

	"stepback/csvimport"
	"stepback/retry"
)

// File is an object that is being written.
type File struct {
	file *os.File
	size int64
}

// Create opens a temporary file. The caller closes it.
func Create(name string) (*File, error) {
	f, err := os.CreateTemp("", "stepback-"+name+"-*")
	if err != nil {
		return nil, failure(err)
	}
	return &File{file: f}, nil
}

// Write appends to the file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.size += int64(n)
	if err != nil {
		return n, failure(err)
	}
	return n, nil
}

// WriteAt replaces bytes that were written before.
func (f *File) WriteAt(p []byte, offset int64) (int, error) {
	n, err := f.file.WriteAt(p, offset)
	if err != nil {
		return n, failure(err)
	}
	return n, nil
}

// Size returns the number of bytes written.
func (f *File) Size() int64 { return f.size }

// Put stores the written data as an object.
func (f *File) Put(ctx context.Context, objects csvimport.Objects, to csvimport.Location, contentType string) error {
	return f.PutSection(ctx, objects, to, 0, f.size, contentType)
}

// PutSection stores size bytes of the written data, from offset on, as an object.
func (f *File) PutSection(ctx context.Context, objects csvimport.Objects, to csvimport.Location, offset, size int64,
	contentType string) error {
	return objects.Put(ctx, to, io.NewSectionReader(f.file, offset, size), size, contentType)
}

// Close removes the file.
func (f *File) Close() error {
	err := f.file.Close()
	if rm := os.Remove(f.file.Name()); err == nil {
		err = rm
	}
	return err
}

// failure converts an error of the temporary disk to RetryNotWorthwhile, because a retry on the same full disk
// would fail again.
func failure(err error) error {
	return csvimport.Fail(retry.RetryNotWorthwhile,
		"cannot write to the temporary directory %s (free space there, or set TMPDIR): %w", os.TempDir(), err)
}
