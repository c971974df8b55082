package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"stepback/cmd/stepback/workspace"
)

// versionLine returns the version, the commit it was built from, what the build leaves out, the Go version and the
// target platform.
func versionLine() string {
	line := "stepback " + workspace.Version()
	if info, ok := debug.ReadBuildInfo(); ok {
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if commit := settings["vcs.revision"]; commit != "" {
			line += ", commit " + commit[:min(12, len(commit))]
			if settings["vcs.modified"] == "true" {
				line += " with changes"
			}
		}
		if slices.Contains(strings.Split(settings["-tags"], ","), "lean") {
			line += ", without Parquet and OpenTelemetry (make build includes them)"
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", line, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// released is the version of a release; internal/release/build.sh sets it.
var released string
