package runner

import (
	"maps"
	"os"
	"slices"
	"strconv"
)

// environ returns the environment of a bootstrap process: the variables that Lambda sets (Lambda developer guide,
// "Defined runtime environment variables"), dummy credentials, and the function's own variables, which take
// precedence.
func (e *processEnvironment) environ(api string) []string {
	r, f := e.runner, e.runner.function
	vars := map[string]string{
		"AWS_LAMBDA_RUNTIME_API":          api,
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION":     f.Version,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.MemoryMB),
		"AWS_LAMBDA_LOG_GROUP_NAME":       e.stream.Group,
		"AWS_LAMBDA_LOG_STREAM_NAME":      e.stream.Name,
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_EXECUTION_ENV":               "AWS_Lambda_" + f.Runtime,
		"AWS_REGION":                      r.region,
		"AWS_DEFAULT_REGION":              r.region,
		"AWS_ACCESS_KEY_ID":               "local",
		"AWS_SECRET_ACCESS_KEY":           "local",
		"_HANDLER":                        f.Entry,
		"LAMBDA_TASK_ROOT":                f.Dir,
		"LANG":                            "en_US.UTF-8",
		"TZ":                              ":UTC",
	}
	for _, inherited := range []string{"PATH", "TMPDIR", "SYSTEMROOT"} {
		if value, ok := os.LookupEnv(inherited); ok {
			vars[inherited] = value
		}
	}
	maps.Copy(vars, f.Env)
	list := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		list = append(list, name+"="+vars[name])
	}
	return list
}
