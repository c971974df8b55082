package csvimportstack

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// executable is the file name of a function's program, which the runtime provided.al2023 starts.
const executable = "bootstrap"

// processors maps Lambda's architectures to ELF's names.
var processors = map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}

// checkBootstraps reports the programs that Lambda would accept but could not start: those that are missing, are for
// another processor, or are not accessible to the user that runs them, because the zip file keeps their permissions.
func checkBootstraps(folder, architecture string) error {
	var all []error
	for _, name := range []string{"validate", "process", "aggregate", "start", metricsFunction, adaptFunction, relayFunction,
		pruneFunction, trainFunction, filesFunction} {
		if err := checkBootstrap(filepath.Join(folder, name, executable), architecture); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

func checkBootstrap(file, architecture string) error {
	const build = "build it with make lambdas-for GOARCH=… LAMBDA_OUT=FOLDER"
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("bootstrap: %w; build it with make lambdas-arm64, or pass its folder with -c bootstraps=FOLDER",
			err)
	}
	const readable = 0o555
	if info.Mode().Perm()&readable != readable {
		return fmt.Errorf("bootstrap %s has permissions %v, but Lambda runs it as another user; set them with chmod 755", file,
			info.Mode().Perm())
	}
	program, err := elf.Open(file)
	if err != nil {
		return fmt.Errorf("bootstrap %s is not a Linux executable: %w; %s", file, err, build)
	}
	defer program.Close()
	if want := processors[architecture]; program.Machine != want {
		return fmt.Errorf("bootstrap %s is built for %v, but the environment's Architecture is %s; %s", file, program.Machine,
			architecture, build)
	}
	return nil
}
