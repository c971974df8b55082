package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"stepback/asl/jsonvalue"
)

// definitionFile is a state machine definition that was read.
type definitionFile struct {
	name string // of the state machine
	path string // as it stands in messages
	text string
}

// definitionSuffix is what the names of definition files end in.
const definitionSuffix = ".asl.json"

// readDefinition reads a definition from a file, or from standard input. Without a name the state machine is called like the file.
func readDefinition(name, path string, std streams) (definitionFile, error) {
	d := definitionFile{name: name, path: path}
	var text []byte
	var err error
	if path == "-" {
		d.path = "standard input"
		text, err = readStandardInput(std)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return d, err
	}
	if d.name == "" {
		d.name = machineName(path)
	}
	d.text = string(text)
	return d, nil
}

// unfitForNames are the characters that the name of a state machine cannot have here.
var unfitForNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// maxName is the longest name of a state machine.
const maxName = 80

// machineName is the name of the state machine that a file defines: that of the file, with hyphens for what a name cannot have.
func machineName(path string) string {
	base := filepath.Base(path)
	for _, suffix := range []string{definitionSuffix, ".json", ".asl"} {
		if cut, found := strings.CutSuffix(base, suffix); found {
			base = cut
			break
		}
	}
	name := strings.Trim(unfitForNames.ReplaceAllString(base, "-"), "-")
	if name == "" {
		return "machine"
	}
	return name[:min(len(name), maxName)]
}

// nestedDefinitions reads the definitions of --nested.
func nestedDefinitions(flags []string, std streams) ([]definitionFile, error) {
	var read []definitionFile
	for _, flag := range flags {
		name, path, ok := strings.Cut(flag, "=")
		if !ok || name == "" || path == "" || path == "-" {
			return nil, fmt.Errorf("--nested %s: give NAME=FILE", flag)
		}
		d, err := readDefinition(name, path, std)
		if err != nil {
			return nil, err
		}
		read = append(read, d)
	}
	return read, nil
}

// readInput reads the input of an execution: JSON as it stands, @FILE, or - for standard input.
func readInput(flag string, std streams) (string, error) {
	text, from := []byte(flag), "--input"
	var err error
	if path, isFile := strings.CutPrefix(flag, "@"); isFile {
		from = path
		text, err = os.ReadFile(path)
	} else if flag == "-" {
		from = "standard input"
		text, err = readStandardInput(std)
	}
	if err != nil {
		return "", fmt.Errorf("--input: %w", err)
	}
	text = bytes.TrimSpace(text)
	if _, err := jsonvalue.Parse(string(text)); err != nil {
		return "", fmt.Errorf("%s is not JSON: %w", from, err)
	}
	return string(text), nil
}

func readStandardInput(std streams) ([]byte, error) {
	if std.in == nil {
		return nil, errors.New("there is no standard input")
	}
	return io.ReadAll(std.in)
}
