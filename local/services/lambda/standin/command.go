package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"stepback/internal/processgroup"
	"stepback/jsonvalue"
	"stepback/tasks/lambda/invocation"
)

// command carries out a function by a command of the shell, once for each invocation: it gets the payload on
// standard input, and what it prints is the result, as JSON or else as a string. A command that ends with another
// status than 0 has failed: the error is {"errorType", "errorMessage"} on its standard output, or the last line of its
// standard error as "Name: message", or ExitStatusN.
type command struct {
	line   string
	env    map[string]string
	stderr io.Writer
}

// patience is how long a command's output stays open after its end or its being killed.
const patience = time.Second

// Invoke implements invocation.Invoker.
func (i *command) Invoke(ctx context.Context, r *invocation.Request) (*invocation.Answer, error) {
	var out, problems bytes.Buffer
	cmd := shell(ctx, i.line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(r.Payload), &out, &problems
	cmd.WaitDelay = patience
	cmd.Env = append(os.Environ(), "AWS_LAMBDA_FUNCTION_NAME="+bareName(r.FunctionName))
	for name, value := range i.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	err := processgroup.Start(cmd)
	if err == nil {
		err = cmd.Wait()
		processgroup.Kill(cmd)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if problems.Len() > 0 {
		_, _ = i.stderr.Write(problems.Bytes()) // nothing useful to do
	}
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success():
		return answered(result(out.Bytes()), ""), nil
	case errors.As(err, &exit):
		return answered(commandError(out.Bytes(), problems.String(), exit), invocation.Unhandled), nil
	default:
		return nil, refusal("ServiceException", err.Error(), 500)
	}
}

// result is what a command has printed, as JSON text.
func result(printed []byte) []byte {
	text := strings.TrimSpace(string(printed))
	if text == "" {
		return []byte("null")
	}
	if _, err := jsonvalue.Parse(text); err == nil {
		return []byte(text)
	}
	return jsonvalue.OfString(text).AppendJSON(nil)
}

// namedError is a line such as "OutOfStock: nothing is left", with which many languages report what ended a program.
var namedError = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.]*)(?:: ?(.*))?$`)

// commandError is the error object of a command that failed.
func commandError(printed []byte, problems string, exit *exec.ExitError) []byte {
	if describesError(printed) {
		return bytes.TrimSpace(printed)
	}
	problems = strings.TrimSpace(problems)
	last := problems[strings.LastIndexByte(problems, '\n')+1:]
	name, message := fmt.Sprintf("ExitStatus%d", exit.ExitCode()), last
	if exit.ExitCode() < 0 {
		name, message = "Killed", exit.Error()
	} else if m := namedError.FindStringSubmatch(last); m != nil {
		name, message = m[1], m[2]
	}
	payload, err := json.Marshal(map[string]string{"errorType": name, "errorMessage": message})
	if err != nil {
		return []byte("{}") // strings can always be encoded
	}
	return payload
}

// describesError reports whether an answer is an error object as Lambda's runtimes make it.
func describesError(payload []byte) bool {
	var said struct {
		Type *string `json:"errorType"`
	}
	return json.Unmarshal(payload, &said) == nil && said.Type != nil
}
