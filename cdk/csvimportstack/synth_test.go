package csvimportstack_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"

	"stepback/cdk/csvimportstack"
	"stepback/cdk/environment"
)

// TestMain switches off CDK's own template validation, which takes ten seconds per synthesis; make synth has it on.
func TestMain(m *testing.M) {
	if err := os.Setenv("CDK_VALIDATION", "false"); err != nil {
		panic(err)
	}
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// template is the part of a CloudFormation template that the tests use.
type template struct {
	Resources map[string]resource
	Outputs   map[string]any
	text      []byte
}

type resource struct {
	Type           string
	Properties     map[string]any
	DependsOn      []string
	DeletionPolicy string
}

// bootstraps returns a folder of stand-ins for the functions' executables: an executable's header, and the function's
// name.
func bootstraps(t *testing.T, architecture string) string {
	t.Helper()
	processor := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}[architecture]
	header := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(processor), Version: uint32(elf.EV_CURRENT),
		Ehsize: 64}
	copy(header.Ident[:], elf.ELFMAG+string([]byte{byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}))
	folder := t.TempDir()
	for _, name := range []string{"validate", "process", "aggregate", "start", "metrics", "adapt", "relay", "prune",
		"train", "files"} {
		var program bytes.Buffer
		if err := binary.Write(&program, binary.LittleEndian, header); err != nil {
			t.Fatal(err)
		}
		program.WriteString(name)
		file := filepath.Join(folder, name, "bootstrap")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, program.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, 0o755); err != nil { // regardless of the umask
			t.Fatal(err)
		}
	}
	return folder
}

// synth returns the synthesized template of the environment.
func synth(t *testing.T, e environment.Environment) template {
	t.Helper()
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir()), Context: flags(t)})
	s, err := csvimportstack.New(app, csvimportstack.Props{Environment: e, BootstrapFolder: bootstraps(t,
		e.Architecture)})
	if err != nil {
		t.Fatal(err)
	}
	return read(t, s)
}

// flags returns the feature flags of the app.
func flags(t *testing.T) *map[string]any {
	t.Helper()
	text, err := os.ReadFile("../cdk.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Context map[string]any }
	if err := json.Unmarshal(text, &file); err != nil || len(file.Context) < 80 {
		t.Fatalf("cdk.json sets %d feature flags: %v", len(file.Context), err)
	}
	return &file.Context
}

// read returns the stack's template.
func read(t *testing.T, s *csvimportstack.Stack) template {
	t.Helper()
	text, err := json.MarshalIndent(assertions.Template_FromStack(s.Stack, nil).ToJSON(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	out := template{text: append(text, '\n')}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// ofType returns the resources of a type by logical id.
func (x template) ofType(kind string) map[string]resource {
	found := map[string]resource{}
	for id, r := range x.Resources {
		if r.Type == kind {
			found[id] = r
		}
	}
	return found
}

// only returns the resource of a type whose logical id has the prefix.
func (x template) only(t *testing.T, kind, prefix string) resource {
	t.Helper()
	var found []resource
	for id, r := range x.ofType(kind) {
		if strings.HasPrefix(id, prefix) {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d resources %s %s…, want 1", len(found), kind, prefix)
	}
	return found[0]
}

// compact returns any value as JSON.
func compact(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
