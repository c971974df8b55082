package wings_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What several packages link together.
var (
	// credentialsModules is the AWS SDK's signer, with what it links itself.
	credentialsModules = []string{
		"github.com/aws/aws-sdk-go-v2",
		"github.com/aws/aws-sdk-go-v2/credentials",
		"github.com/aws/smithy-go",
	}
	// dynamoDBClientModules is the AWS SDK's client of DynamoDB, with what it links itself.
	dynamoDBClientModules = []string{
		"github.com/aws/aws-sdk-go-v2",
		"github.com/aws/aws-sdk-go-v2/internal/configsources",
		"github.com/aws/aws-sdk-go-v2/internal/endpoints/v2",
		"github.com/aws/aws-sdk-go-v2/service/dynamodb",
		"github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding",
		"github.com/aws/aws-sdk-go-v2/service/internal/endpoint-discovery",
		"github.com/aws/smithy-go",
	}
	// eventStreamModules is the AWS SDK's encoding of event streams, with what it links itself.
	eventStreamModules = []string{
		"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream",
		"github.com/aws/smithy-go",
	}
	// parquetModules is the reader of Parquet files, with what it links itself.
	parquetModules = []string{
		"github.com/andybalholm/brotli",
		"github.com/google/uuid",
		"github.com/klauspost/compress",
		"github.com/parquet-go/bitpack",
		"github.com/parquet-go/jsonlite",
		"github.com/parquet-go/parquet-go",
		"github.com/pierrec/lz4/v4",
		"github.com/twpayne/go-geom",
		"golang.org/x/sys",
		"google.golang.org/protobuf",
	}
	// pebbleModules is the database of the durable journal, with what it links itself.
	pebbleModules = []string{
		"github.com/RaduBerinde/axisds",
		"github.com/RaduBerinde/btreemap",
		"github.com/beorn7/perks",
		"github.com/cespare/xxhash/v2",
		"github.com/cockroachdb/crlib",
		"github.com/cockroachdb/errors",
		"github.com/cockroachdb/logtags",
		"github.com/cockroachdb/pebble/v2",
		"github.com/cockroachdb/redact",
		"github.com/cockroachdb/swiss",
		"github.com/cockroachdb/tokenbucket",
		"github.com/getsentry/sentry-go",
		"github.com/gogo/protobuf",
		"github.com/golang/snappy",
		"github.com/google/btree",
		"github.com/klauspost/compress",
		"github.com/kr/pretty",
		"github.com/kr/text",
		"github.com/minio/minlz",
		"github.com/munnerz/goautoneg",
		"github.com/pkg/errors",
		"github.com/prometheus/client_golang",
		"github.com/prometheus/client_model",
		"github.com/prometheus/common",
		"github.com/prometheus/procfs",
		"github.com/rogpeppe/go-internal",
		"go.yaml.in/yaml/v2",
		"golang.org/x/exp",
		"golang.org/x/sys",
		"golang.org/x/text",
		"google.golang.org/protobuf",
	}
	// pebbleFileSystemModules is Pebble's file system, with what it links itself.
	pebbleFileSystemModules = []string{
		"github.com/cockroachdb/crlib",
		"github.com/cockroachdb/errors",
		"github.com/cockroachdb/logtags",
		"github.com/cockroachdb/pebble/v2",
		"github.com/cockroachdb/redact",
		"github.com/getsentry/sentry-go",
		"github.com/gogo/protobuf",
		"github.com/kr/pretty",
		"github.com/kr/text",
		"github.com/pkg/errors",
		"github.com/rogpeppe/go-internal",
		"golang.org/x/sys",
		"golang.org/x/text",
	}
	// postgresModules is pgx, with what it links itself.
	postgresModules = []string{
		"github.com/jackc/pgpassfile",
		"github.com/jackc/pgservicefile",
		"github.com/jackc/pgx/v5",
		"golang.org/x/text",
	}
	// prometheusModules is Prometheus's client, with what it links itself.
	prometheusModules = []string{
		"github.com/beorn7/perks",
		"github.com/cespare/xxhash/v2",
		"github.com/munnerz/goautoneg",
		"github.com/prometheus/client_golang",
		"github.com/prometheus/client_model",
		"github.com/prometheus/common",
		"github.com/prometheus/procfs",
		"go.yaml.in/yaml/v2",
		"golang.org/x/sys",
		"google.golang.org/protobuf",
	}
	// sdkConfigModules is the AWS SDK's configuration and its sources of credentials, with what it links itself.
	sdkConfigModules = []string{
		"github.com/aws/aws-sdk-go-v2",
		"github.com/aws/aws-sdk-go-v2/config",
		"github.com/aws/aws-sdk-go-v2/credentials",
		"github.com/aws/aws-sdk-go-v2/feature/ec2/imds",
		"github.com/aws/aws-sdk-go-v2/internal/configsources",
		"github.com/aws/aws-sdk-go-v2/internal/endpoints/v2",
		"github.com/aws/aws-sdk-go-v2/internal/v4a",
		"github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding",
		"github.com/aws/aws-sdk-go-v2/service/internal/presigned-url",
		"github.com/aws/aws-sdk-go-v2/service/signin",
		"github.com/aws/aws-sdk-go-v2/service/sso",
		"github.com/aws/aws-sdk-go-v2/service/ssooidc",
		"github.com/aws/aws-sdk-go-v2/service/sts",
		"github.com/aws/smithy-go",
	}
	// sqliteModules is SQLite without cgo, with what it links itself.
	sqliteModules = []string{
		"github.com/dustin/go-humanize",
		"github.com/remyoudompheng/bigfft",
		"golang.org/x/sys",
		"modernc.org/libc",
		"modernc.org/mathutil",
		"modernc.org/memory",
		"modernc.org/sqlite",
	}
	// stepFunctionsClientModules is the AWS SDK's client of Step Functions, with what it links itself.
	stepFunctionsClientModules = []string{
		"github.com/aws/aws-sdk-go-v2",
		"github.com/aws/aws-sdk-go-v2/internal/configsources",
		"github.com/aws/aws-sdk-go-v2/internal/endpoints/v2",
		"github.com/aws/aws-sdk-go-v2/service/sfn",
		"github.com/aws/smithy-go",
	}
)

// linkedModules lists, for each package that other modules import, the third-party modules in a program that imports
// it. The test fails on a package without a row and on a module more or less. Adding a dependency needs a new entry
// here, because every program that imports the package gets it.
var linkedModules = map[string][]string{
	".":                 {"github.com/google/btree", "github.com/klauspost/compress", "go.yaml.in/yaml/v3", "golang.org/x/text"},
	"adaptive/analysis": {"go.yaml.in/yaml/v3", "golang.org/x/text"},
	"adaptive/analysis/histories": slices.Concat(stepFunctionsClientModules, []string{
		"github.com/google/btree",
		"go.yaml.in/yaml/v3",
		"golang.org/x/text",
	}),
	"adaptive/breaker":                    nil,
	"adaptive/budget":                     nil,
	"adaptive/configuration":              nil,
	"adaptive/configuration/dynamosource": dynamoDBClientModules,
	"adaptive/controller": slices.Concat(stepFunctionsClientModules, []string{
		"github.com/aws/aws-sdk-go-v2/service/cloudwatch",
		"github.com/google/btree",
		"go.yaml.in/yaml/v3",
		"golang.org/x/text",
	}),
	"adaptive/controller/decide": nil,
	"adaptive/versions":          stepFunctionsClientModules,
	"adaptive/cost":              {"golang.org/x/text"},
	"adaptive/deadline":          nil,
	"adaptive/design":            {"go.yaml.in/yaml/v3", "golang.org/x/text"},
	"adaptive/lab":               {"go.yaml.in/yaml/v3", "golang.org/x/text"},
	"adaptive/lab/chart":         {"go.yaml.in/yaml/v3", "golang.org/x/image", "golang.org/x/sys", "golang.org/x/text"},
	"adaptive/lab/contention":    nil,
	"adaptive/lab/draw":          nil,
	"adaptive/lab/policy":        {"go.yaml.in/yaml/v3", "golang.org/x/text"},
	"adaptive/lab/regret":        {"go.yaml.in/yaml/v3", "golang.org/x/text"},
	"adaptive/lab/scenario":      {"go.yaml.in/yaml/v3", "golang.org/x/text"},
	"adaptive/lab/scenarios":     {"go.yaml.in/yaml/v3", "golang.org/x/text"},
	"adaptive/lab/simulation":    {"go.yaml.in/yaml/v3", "golang.org/x/text"},
	"adaptive/lab/statistics":    nil,
	"adaptive/limiter":           nil,
	"adaptive/pacing":            nil,
	"adaptive/poison":            nil,
	"adaptive/predict":           nil,
	"adaptive/predict/s3model": {
		"github.com/aws/aws-sdk-go-v2", "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream",
		"github.com/aws/aws-sdk-go-v2/internal/configsources", "github.com/aws/aws-sdk-go-v2/internal/endpoints/v2",
		"github.com/aws/aws-sdk-go-v2/internal/v4a", "github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding",
		"github.com/aws/aws-sdk-go-v2/service/internal/checksum",
		"github.com/aws/aws-sdk-go-v2/service/internal/presigned-url",
		"github.com/aws/aws-sdk-go-v2/service/internal/s3shared", "github.com/aws/aws-sdk-go-v2/service/s3",
		"github.com/aws/smithy-go",
	},
	"adaptive/shared":             nil,
	"adaptive/shared/dynamostore": dynamoDBClientModules,
	"adaptive/shared/storetest":   nil,
	"adaptive/worth":              nil,
	"asl":                         {"golang.org/x/text"},
	"asl/dataflow":                {"golang.org/x/text"},
	"asl/document":                {"go.yaml.in/yaml/v3", "golang.org/x/text"},
	"asl/expression":              nil,
	"asl/intrinsic":               nil,
	"asl/jsonata":                 nil,
	"asl/jsonpath":                nil,
	"asl/source":                  {"golang.org/x/text"},
	"asl/template":                nil,
	"aws":                         nil,
	"aws/client":                  {"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"},
	"aws/javapattern":             nil,
	"aws/loopback":                nil,
	"aws/model":                   {"github.com/aws/smithy-go"},
	"aws/model/botocore":          {"github.com/aws/smithy-go"},
	"aws/model/clientschemas":     {"github.com/aws/smithy-go"},
	"aws/objects":                 credentialsModules,
	"aws/objects/sdkobjects": slices.Concat(sdkConfigModules, []string{
		"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream",
		"github.com/aws/aws-sdk-go-v2/service/internal/checksum",
		"github.com/aws/aws-sdk-go-v2/service/internal/s3shared",
		"github.com/aws/aws-sdk-go-v2/service/s3",
	}),
	"aws/prices":                             nil,
	"aws/rangedbody":                         {"github.com/aws/smithy-go"},
	"aws/rangedbody/breaktest":               nil,
	"aws/protocoltest":                       {"github.com/aws/smithy-go"},
	"aws/server":                             eventStreamModules,
	"aws/server/modeltest":                   eventStreamModules,
	"aws/signature":                          nil,
	"engine":                                 {"github.com/google/btree", "github.com/klauspost/compress", "golang.org/x/text"},
	"engine/clock":                           nil,
	"engine/graph":                           {"golang.org/x/image", "golang.org/x/sys", "golang.org/x/text"},
	"engine/durable":                         nil,
	"engine/history":                         nil,
	"engine/itemreader":                      {"github.com/klauspost/compress"},
	"engine/itemreader/parquetrows":          parquetModules,
	"engine/journal":                         {"github.com/google/btree", "golang.org/x/text"},
	"engine/journal/journaltest":             {"github.com/google/btree", "golang.org/x/text"},
	"engine/journal/diskspace":               slices.Concat(pebbleFileSystemModules, []string{"github.com/google/btree"}),
	"engine/journal/diskspace/diskspacetest": pebbleFileSystemModules,
	"engine/journal/pebble":                  pebbleModules,
	"engine/resultwriter":                    nil,
	"engine/s3objects":                       slices.Concat(credentialsModules, []string{"github.com/klauspost/compress"}),
	"engine/simulation":                      pebbleModules,
	"engine/simulation/machine":              nil,
	"engine/simulation/oracle":               nil,
	"engine/timeline":                        {"golang.org/x/text"},
	"jsonvalue":                              nil,
	"outbox":                                 {"github.com/google/uuid", "golang.org/x/sync"},
	"outbox/database": slices.Concat(sqliteModules, postgresModules, []string{
		"github.com/google/uuid",
		"github.com/jackc/puddle/v2",
		"golang.org/x/sync",
	}),
	"outbox/deadletters":             {"golang.org/x/sync"},
	"outbox/deadletters/mapitems":    slices.Concat(stepFunctionsClientModules, []string{"golang.org/x/sync"}),
	"outbox/deadletters/queues":      {"github.com/aws/smithy-go", "golang.org/x/sync"},
	"outbox/deadletters/s3documents": slices.Concat(credentialsModules, []string{"golang.org/x/sync"}),
	"outbox/deadletters/startevents": slices.Concat(stepFunctionsClientModules, []string{
		"github.com/aws/aws-sdk-go-v2/credentials", "golang.org/x/sync",
	}),
	"outbox/eventbridgesink": {"github.com/google/uuid", "golang.org/x/sync"},
	"outbox/monitor":         slices.Concat(prometheusModules, []string{"github.com/google/uuid", "golang.org/x/sync"}),
	"outbox/outboxtest":      {"github.com/google/uuid", "golang.org/x/sync"},
	"outbox/postgresstore": slices.Concat(postgresModules, []string{
		"github.com/google/uuid",
		"github.com/jackc/puddle/v2",
		"golang.org/x/sync",
	}),
	"outbox/rehearsal":   slices.Concat(sqliteModules, []string{"github.com/google/uuid", "golang.org/x/sync"}),
	"outbox/sinks":       slices.Concat(sdkConfigModules, []string{"github.com/google/uuid", "golang.org/x/sync"}),
	"outbox/snssink":     {"github.com/google/uuid", "golang.org/x/sync"},
	"outbox/sqlitestore": slices.Concat(sqliteModules, []string{"github.com/google/uuid", "golang.org/x/sync"}),
	"outbox/sqssink":     {"github.com/google/uuid", "golang.org/x/sync"},
	"outbox/webhook":     {"github.com/google/uuid", "golang.org/x/sync"},
	"resilience":         nil,
	"resilience/grpcretry": {
		"golang.org/x/net",
		"golang.org/x/sys",
		"golang.org/x/text",
		"google.golang.org/genproto/googleapis/rpc",
		"google.golang.org/grpc",
		"google.golang.org/protobuf",
	},
	"resilience/httpclient":              {"github.com/google/uuid"},
	"resilience/idempotency":             {"github.com/google/uuid"},
	"resilience/idempotency/dynamostore": slices.Concat(dynamoDBClientModules, []string{"github.com/google/uuid"}),
	"resilience/idempotency/postgresstore": slices.Concat(postgresModules, []string{
		"github.com/google/uuid",
		"github.com/jackc/puddle/v2",
		"golang.org/x/sync",
	}),
	"resilience/idempotency/sqlitestore": slices.Concat(sqliteModules, []string{"github.com/google/uuid"}),
	"resilience/idempotency/storetest":   {"github.com/google/uuid"},
	"resilience/resilienceotel": {
		"github.com/cespare/xxhash/v2",
		"go.opentelemetry.io/otel",
		"go.opentelemetry.io/otel/trace",
	},
	"resilience/resilienceprom":    prometheusModules,
	"resilience/sqlretry":          nil,
	"resilience/sqlretry/pgxretry": postgresModules,
	"retry":                        nil,
	"retrymetrics":                 nil,
	"retrymetrics/exposition":      prometheusModules,
	"retrymetrics/metricmath":      nil,
	"retrymetrics/metricsfile":     nil,
	"retrypatterns":                nil,
	"retrypatterns/review":         {"golang.org/x/text"},
	"retrypatterns/review/handlers": {
		"github.com/evanw/esbuild",
		"github.com/go-sourcemap/sourcemap",
		"github.com/grafana/sobek",
		"golang.org/x/sys",
		"golang.org/x/text",
	},
	"retrypatterns/tablefile": {"go.yaml.in/yaml/v3"},
	"statemachine":            nil,
	"stepbacktest": {
		"github.com/google/btree",
		"github.com/klauspost/compress",
		"go.yaml.in/yaml/v3",
		"golang.org/x/text",
	},
	"stepbacktest/machinetest": {
		"github.com/aws/smithy-go",
		"github.com/google/btree",
		"github.com/klauspost/compress",
		"go.yaml.in/yaml/v3",
		"golang.org/x/text",
	},
	"stepbacktest/observed": nil,
}

// linkFolders lists the folders with packages that other modules import; "." is the front door.
var linkFolders = []string{
	".", "adaptive", "asl", "aws", "engine", "jsonvalue", "outbox", "resilience", "retry", "retrymetrics", "retrypatterns",
	"statemachine", "stepbacktest",
}

// TestLinkedModules compares the table with go list.
func TestLinkedModules(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not in the PATH")
	}
	list := func(args ...string) []string {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built
		cmd.Dir = "../.."
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	root := list("-m")[0]
	moduleOf := map[string]string{}
	for _, line := range list("-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", "./...") {
		pkg, module, _ := strings.Cut(line, " ")
		if module != root {
			moduleOf[pkg] = module
		}
	}
	// Looking at the files makes them inputs of the test, so that go test does not answer from its cache when one of
	// them has another import.
	for _, line := range list("-f", "{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}\n{{end}}", "./...") {
		if line != "" {
			if _, err := os.Stat(line); err != nil {
				t.Fatal(err)
			}
		}
	}
	found := map[string]bool{}
	for _, line := range list("-f", "{{.ImportPath}} {{.Name}}{{range .Deps}} {{.}}{{end}}", "./...") {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(strings.TrimPrefix(fields[0], root), "/")
		if pkg == "" {
			pkg = "."
		}
		folder, _, _ := strings.Cut(pkg, "/")
		if fields[1] == "main" || !slices.Contains(linkFolders, folder) || slices.Contains(strings.Split(pkg, "/"), "internal") {
			continue
		}
		found[pkg] = true
		var got []string
		for _, dep := range fields[2:] {
			if m := moduleOf[dep]; m != "" && !slices.Contains(got, m) {
				got = append(got, m)
			}
		}
		want, ok := linkedModules[pkg]
		if !ok {
			t.Errorf("%s has no row; it links %q", pkg, got)
			continue
		}
		for _, m := range got {
			if !slices.Contains(want, m) {
				t.Errorf("%s links %s, which its row does not have", pkg, m)
			}
		}
		for _, m := range want {
			if !slices.Contains(got, m) {
				t.Errorf("%s does not link %s, which its row has", pkg, m)
			}
		}
	}
	for pkg := range linkedModules {
		if !found[pkg] {
			t.Errorf("%s has a row, but there is no such package", pkg)
		}
	}
}

// TestLeanBuild checks that the command which make run compiles links nothing that only other verbs, formats and
// databases need.
func TestLeanBuild(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not in the PATH")
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "lambda.norpc,lean", "./cmd/stepback")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.Lines(string(out)) {
		for _, left := range []string{"github.com/parquet-go/", "go.opentelemetry.io/", "google.golang.org/grpc",
			"github.com/jackc/pgx/", "github.com/modelcontextprotocol/", "github.com/tliron/", "github.com/google/yamlfmt", "github.com/evanw/esbuild/",
			"github.com/grafana/sobek"} {
			if strings.HasPrefix(pkg, left) {
				t.Errorf("the lean build links %s", strings.TrimSpace(pkg))
			}
		}
	}
}
