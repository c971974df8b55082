// Package buildinfo reports which version of the command this program is.
package buildinfo

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// released is the version that main registers.
var released string

// Register sets the version that the linker wrote into the command; "" if the linker wrote none. The command calls
// Register once, before it reads its command line.
func Register(version string) { released = version }

// unknown stands for the version of a build from a source tree without version control.
const unknown = "unversioned"

// Version returns the registered version, or else the version of the module that this program was built from: a tag, or
// a pseudo-version with the commit's time and hash. It returns "unversioned" for a build without both.
func Version() string {
	if released != "" {
		return released
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return unknown
}

// Line returns the version, the commit, what the build leaves out, the Go version and the target platform.
func Line() string {
	line := "stepback " + Version()
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
		tags := strings.Split(settings["-tags"], ",")
		if slices.Contains(tags, "lean") {
			line += ", without Parquet, PostgreSQL, OpenTelemetry, mcp, lsp and the review of JavaScript (make build includes them)"
		}
		if slices.Contains(tags, "checks") {
			line += ", only validate, test and retries review"
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", line, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
