package functions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/internal/lazyregexp"
	"stepback/local/services/lambda/runtimes"
)

// Settings holds the settings in a request about a configuration. Nil members stay unchanged.
type Settings struct {
	Runtime, Role, Handler, Description, KMSKeyArn *string
	Timeout, MemorySize                            *int
	Environment                                    *Environment
	VpcConfig                                      *VPCConfig
	DeadLetterConfig                               *DeadLetterConfig
	TracingConfig                                  *TracingConfig
	EphemeralStorage                               *EphemeralStorage
	SnapStart                                      *SnapStart
	LoggingConfig                                  *LoggingConfig
	Layers                                         []string
	FileSystemConfigs, ImageConfig                 json.RawMessage
	DurableConfig                                  *DurableSettings
}

// DurableSettings is the DurableConfig of a request; nil members have their defaults, or stay unchanged.
type DurableSettings struct{ RetentionPeriodInDays, ExecutionTimeout *int64 }

// The defaults of a DurableConfig.
const (
	defaultRetentionDays    = 14
	defaultExecutionTimeout = 86_400
)

// initial returns the default configuration of a function.
func initial(scope aws.Scope, name string) Configuration {
	return Configuration{
		FunctionName: name, FunctionArn: arnOf(scope, name), Version: latest,
		Timeout: defaultTimeout, MemorySize: defaultMemory, EphemeralStorage: EphemeralStorage{defaultStorage},
		TracingConfig: TracingConfig{"PassThrough"}, SnapStart: SnapStart{"None", "Off"},
		State: active, LastUpdateStatus: successful, PackageType: "Zip", Architectures: []string{x8664},
		LoggingConfig: LoggingConfig{LogFormat: "Text", LogGroup: "/aws/lambda/" + name},
	}
}

// apply applies the settings to c, which must not be shared.
func (s *Settings) apply(c *Configuration) error {
	if err := s.check(); err != nil {
		return err
	}
	set(&c.Runtime, s.Runtime)
	set(&c.Role, s.Role)
	set(&c.Handler, s.Handler)
	set(&c.Description, s.Description)
	set(&c.KMSKeyArn, s.KMSKeyArn)
	set(&c.Timeout, s.Timeout)
	set(&c.MemorySize, s.MemorySize)
	set(&c.TracingConfig, s.TracingConfig)
	set(&c.EphemeralStorage, s.EphemeralStorage)
	if s.Environment != nil {
		c.Environment = &Environment{Variables: s.Environment.Variables}
		if c.Environment.Variables == nil {
			c.Environment.Variables = map[string]string{}
		}
	}
	if s.VpcConfig != nil {
		c.VpcConfig = s.VpcConfig
	}
	if s.DeadLetterConfig != nil {
		c.DeadLetterConfig = s.DeadLetterConfig
	}
	if s.DurableConfig != nil {
		d := DurableConfig{defaultRetentionDays, defaultExecutionTimeout}
		if c.DurableConfig != nil {
			d = *c.DurableConfig
		}
		set(&d.RetentionPeriodInDays, s.DurableConfig.RetentionPeriodInDays)
		set(&d.ExecutionTimeout, s.DurableConfig.ExecutionTimeout)
		c.DurableConfig = &d
	}
	if s.SnapStart != nil {
		c.SnapStart = SnapStart{s.SnapStart.ApplyOn, "Off"}
	}
	if l := s.LoggingConfig; l != nil {
		setText(&c.LoggingConfig.LogFormat, l.LogFormat)
		setText(&c.LoggingConfig.ApplicationLogLevel, l.ApplicationLogLevel)
		setText(&c.LoggingConfig.SystemLogLevel, l.SystemLogLevel)
		setText(&c.LoggingConfig.LogGroup, l.LogGroup)
		switch levels := l.ApplicationLogLevel + l.SystemLogLevel; {
		case c.LoggingConfig.LogFormat == logJSON:
			c.LoggingConfig.ApplicationLogLevel = cmp.Or(c.LoggingConfig.ApplicationLogLevel, usualLevel)
			c.LoggingConfig.SystemLogLevel = cmp.Or(c.LoggingConfig.SystemLogLevel, usualLevel)
		case levels != "":
			return invalid("ApplicationLogLevel and SystemLogLevel can be set only with the LogFormat JSON.")
		default:
			c.LoggingConfig.ApplicationLogLevel, c.LoggingConfig.SystemLogLevel = "", ""
		}
	}
	if c.Runtime == "" || c.Handler == "" {
		return invalid("Runtime and Handler are mandatory parameters for functions created with deployment packages.")
	}
	runtime, _ := aws.ParseARN(c.FunctionArn)
	sum := sha256.Sum256([]byte(c.Runtime)) // AWS's is of the runtime's build
	runtime.Account, runtime.Resource = "", "runtime:"+hex.EncodeToString(sum[:])
	c.RuntimeVersionConfig.RuntimeVersionArn = runtime.String()
	return nil
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

func setText(to *string, value string) {
	if value != "" {
		*to = value
	}
}

// check returns an error for settings that are not supported here.
func (s *Settings) check() error {
	switch {
	case s.Runtime != nil && !runtimes.Known(*s.Runtime):
		return invalid("%s", runtimes.Refusal(*s.Runtime))
	case present(s.FileSystemConfigs):
		return invalid("File systems are not mounted here; leave FileSystemConfigs out.")
	case present(s.ImageConfig):
		return invalid("Container images do not run here; leave ImageConfig out.")
	case s.Environment != nil:
		return checkEnvironment(s.Environment.Variables)
	}
	return nil
}

// present reports whether an unsupported list or structure was sent with any content.
func present(raw json.RawMessage) bool {
	text := strings.TrimSpace(string(raw))
	return text != "" && text != "null" && text != "[]" && text != "{}"
}

// maxEnvironment is the maximum size of a function's variables as JSON, in bytes.
const maxEnvironment = 4 << 10

// reservedVariables lists the variables that Lambda sets itself and that functions cannot set.
var reservedVariables = []string{
	"AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
	"AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_VERSION", "AWS_LAMBDA_INITIALIZATION_TYPE",
	"AWS_LAMBDA_LOG_GROUP_NAME",
	"AWS_LAMBDA_LOG_STREAM_NAME", "AWS_LAMBDA_RUNTIME_API", "AWS_REGION", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY",
	"AWS_SESSION_TOKEN", "LAMBDA_RUNTIME_DIR", "LAMBDA_TASK_ROOT", "_HANDLER",
}

// variableName matches the variable names that Lambda allows.
var variableName = lazyregexp.New(`^[a-zA-Z][a-zA-Z0-9_]+$`)

const cannotConfigure = "Lambda was unable to configure your environment variables because the environment variables you have provided "

func checkEnvironment(variables map[string]string) error {
	var taken []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if !variableName.MatchString(name) && !slices.Contains(reservedVariables, name) {
			return invalid("The environment variable %q: its name must match [a-zA-Z]([a-zA-Z0-9_])+", name)
		}
		if slices.Contains(reservedVariables, name) {
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		return invalid(cannotConfigure+"contains reserved keys that are currently not supported for modification. Reserved keys used in this request: %s",
			strings.Join(taken, ", "))
	}
	text, err := json.Marshal(variables)
	if err != nil {
		return err
	}
	if len(text) > maxEnvironment {
		return invalid(cannotConfigure+"exceeded the 4KB limit. String measured: %s", text)
	}
	return nil
}
