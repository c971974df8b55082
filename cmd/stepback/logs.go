package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stepback/services/lambda/runner"
)

type logsCmd struct {
	Name    string `arg:"" help:"Name of a function, or of a log group, which begins with a slash."`
	Data    string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory. Default .stepback."`
	Account string `default:"000000000000" help:"Account of the function or log group."`
	Region  string `default:"us-east-1" help:"Region of the function or log group."`
	Lines   int    `short:"n" default:"100" placeholder:"N" help:"How many lines, the last ones; 0 prints all that is kept. Default 100."`
}

// Help shows examples.
func (logsCmd) Help() string {
	return `Examples:
  stepback logs greet
  stepback logs greet -n 0 | grep REPORT
  stepback logs /aws/vendedlogs/states/orders

The log of a function is rotated when it is longer than 16 MB, and one older log is kept.`
}

// Run prints the end of the log.
func (c *logsCmd) Run(std streams) error {
	if strings.HasPrefix(c.Name, "/") {
		return c.printGroup(std)
	}
	for _, dir := range []string{filepath.Join(c.Data, functionLogs, c.Account, c.Region),
		filepath.Join(c.Data, functionLogs)} {
		text, err := readLog(dir, c.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = std.out.Write(lastLines(text, c.Lines))
		return err
	}
	return c.unknown()
}

// readLog reads the older log and the current one, of which either may be missing.
func readLog(dir, function string) ([]byte, error) {
	path, older := runner.LogPath(dir, function)
	text, err := os.ReadFile(older)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	current, currentErr := os.ReadFile(path)
	if errors.Is(currentErr, fs.ErrNotExist) && err == nil {
		currentErr = nil // it has just been rotated
	}
	return append(text, current...), currentErr
}

func lastLines(text []byte, n int) []byte {
	at := len(text)
	for range n {
		at = bytes.LastIndexByte(text[:max(0, at-1)], '\n') + 1
	}
	if n <= 0 {
		at = 0
	}
	return text[at:]
}

// unknown names the functions that have logged something.
func (c *logsCmd) unknown() error {
	var names []string
	for _, pattern := range []string{filepath.Join(functionLogs, c.Account, c.Region, "*.log"),
		filepath.Join(functionLogs, "*.log")} {
		found, err := filepath.Glob(filepath.Join(c.Data, pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".log"))
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("no function in %s has logged anything in %s and %s; name another directory with --data",
			c.Data, c.Account, c.Region)
	}
	return fmt.Errorf("the function %s has no log in %s; there are logs of %s", c.Name, c.Data,
		strings.Join(names, ", "))
}
