package chart

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Format returns the function that writes a figure in the format of the name's extension, .svg or .png. It returns
// an error for any other extension.
func Format(name string) (func(*Figure, io.Writer) error, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".svg":
		return (*Figure).WriteSVG, nil
	case ".png":
		return (*Figure).WritePNG, nil
	}
	return nil, fmt.Errorf("cannot write %q: name a file that ends in .svg or .png", name)
}

// WriteFile writes the figure to a file, in the format of the name's extension.
func (f *Figure) WriteFile(name string) error {
	write, err := Format(name)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := write(f, &out); err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o644)
}
