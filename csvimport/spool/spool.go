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

// Put stores the written data as an object.
func (f *File) Put(ctx context.Context, objects csvimport.Objects, to csvimport.Location, contentType string) error {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return failure(err)
	}
	return objects.Put(ctx, to, f.file, f.size, contentType)
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
