package runner

import (
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// explainStart explains why a command did not start and what to do about it.
func explainStart(command string, err error) string {
	var missing *exec.Error
	info, statErr := os.Stat(command)
	switch {
	case errors.As(err, &missing):
		return err.Error() + ": install it, or give the function another runtime"
	case errors.Is(statErr, fs.ErrNotExist) && filepath.Base(command) == "bootstrap":
		return "Couldn't find valid bootstrap(s): [/var/task/bootstrap /opt/bootstrap]: there is no " + command +
			"; put a file bootstrap at the top of the deployment package"
	case errors.Is(err, fs.ErrNotExist) && statErr == nil:
		return err.Error() + ": the file is there, but the interpreter that its first line names, or its dynamic linker, is not"
	case errors.Is(err, fs.ErrPermission) && statErr == nil && info.Mode()&0o111 == 0:
		return err.Error() + ": the file is not executable; chmod 755 it before it is zipped"
	case isForeign(err):
		return err.Error() + ": " + foreign(command)
	}
	return err.Error()
}

// isForeign reports whether err means that the system cannot run a file of this kind. Windows has a separate error
// number for that.
func isForeign(err error) bool {
	const badExecutable = syscall.Errno(193) // ERROR_BAD_EXE_FORMAT
	return errors.Is(err, syscall.ENOEXEC) || runtime.GOOS == "windows" && errors.Is(err, badExecutable)
}

// foreign describes the machine that an executable was built for, and the machine that it should have been built
// for.
func foreign(path string) string {
	here := runtime.GOOS + "/" + runtime.GOARCH
	advice := "; build it with GOOS=" + runtime.GOOS + " GOARCH=" + runtime.GOARCH
	f, err := elf.Open(path)
	if err != nil {
		return "it is no program that this machine (" + here +
			") can run: a script needs a first line such as #!/bin/sh"
	}
	defer f.Close()
	return "it is built for linux/" + architecture(f.Machine) + " and this machine is " + here + advice
}

// architecture returns Go's name of a machine.
func architecture(m elf.Machine) string {
	switch m { //nolint:exhaustive // the others go by ELF's own names
	case elf.EM_X86_64:
		return "amd64"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_386:
		return "386"
	case elf.EM_ARM:
		return "arm"
	}
	return strings.ToLower(strings.TrimPrefix(m.String(), "EM_"))
}
