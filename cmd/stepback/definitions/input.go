package definitions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"stepback/asl/document"
	"stepback/cmd/stepback/terminal"
	"stepback/jsonvalue"
)

// ReadInput reads the input of an execution: literal JSON, @FILE, or - for standard input.
func ReadInput(flag string, std terminal.Streams) (string, error) {
	text, from := []byte(flag), "--input"
	var err error
	if path, isFile := strings.CutPrefix(flag, "@"); isFile || flag == "-" {
		if from = path; path == "-" {
			from = "standard input"
		}
		text, err = ReadText(path, std)
	}
	if err != nil {
		return "", fmt.Errorf("--input: %w", err)
	}
	if len(text) > document.MaxText {
		return "", fmt.Errorf("--input: %s is longer than 8 MiB; an execution accepts at most 262,144 bytes", from)
	}
	text = bytes.TrimSpace(terminal.WithoutMark(text))
	if _, err := jsonvalue.Parse(string(text)); err != nil {
		if from == "--input" && terminal.Exists(flag) {
			return "", fmt.Errorf("--input is not JSON; did you mean the file @%s?", flag)
		}
		return "", fmt.Errorf("%s is not JSON: %w", from, err)
	}
	return string(text), nil
}

// errInterrupted reports that reading a file was aborted before its end.
var errInterrupted = errors.New("interrupted while reading")

// ReadText reads a file, or standard input if path is -. It reads at most one byte beyond document.MaxText, because
// a longer file is too long for every purpose, and might be an endless device. If the command is interrupted while
// it waits for a pipe, reading is aborted.
func ReadText(path string, std terminal.Streams) ([]byte, error) {
	type outcome struct {
		text []byte
		err  error
	}
	read := make(chan outcome, 1)
	go func() { // it lives as long as the process if the pipe is never written to
		text, err := readAll(path, std)
		read <- outcome{text, err}
	}()
	select {
	case o := <-read:
		return o.text, o.err
	case <-std.Interrupted:
		return nil, fmt.Errorf("%s: %w", path, errInterrupted)
	}
}

func readAll(path string, std terminal.Streams) ([]byte, error) {
	in := std.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	if in == nil {
		return nil, errors.New("there is no standard input")
	}
	return io.ReadAll(io.LimitReader(in, document.MaxText+1))
}
