//go:build !checks

package main

import (
	"stepback/cmd/stepback/checks"
	"stepback/local/functiontest"
)

// functionFile implements checks.FunctionFile.
type functionFile struct{ *functiontest.File }

// Merge implements checks.FunctionFile.
func (f functionFile) Merge(other checks.FunctionFile) bool {
	of, ok := other.(functionFile)
	return ok && f.File.Merge(of.File)
}

// functionTests implements checks.ParseFunctionFile with the whole platform, which the build tag checks leaves out.
func functionTests(name string, text []byte, dir string, read func(string) ([]byte, error)) (checks.FunctionFile, error) {
	f, err := functiontest.Parse(name, text, dir, read)
	return functionFile{f}, err
}
