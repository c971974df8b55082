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
	"strings"
	"time"

	"stepback/internal/lazyregexp"
	"stepback/internal/processgroup"
	"stepback/jsonvalue"
	"stepback/tasks/lambda/invocation"
)

// command implements a function as a shell command, run once per invocation. The payload is its standard input. Its
// standard output is the result: JSON, or otherwise a string. A command with a nonzero exit status has failed. The
// error is then {"errorType", "errorMessage"} from its standard output, or the last line of its standard error in
// the form "Name: message", or ExitStatusN.
type command struct {
	line   string
	env    map[string]string
	stderr io.Writer
}

// patience is the time for which a command's output may stay open after it has ended or been killed.
const patience = time.Second

// Invoke implements invocation.Invoker.
func (i *command) Invoke(ctx context.Context, r *invocation.Request) (*invocation.Answer, error) {
	var out, problems bytes.Buffer
	cmd := shell(ctx, i.line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(r.Payload), &out, &problems
	cmd.WaitDelay = patience
	cmd.Env = append(os.Environ(), "AWS_LAMBDA_FUNCTION_NAME="+BareName(r.FunctionName))
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
		_, _ = i.stderr.Write(problems.Bytes()) // nothing to be done about errors
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

// result converts the output of a command to JSON.
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

// namedError matches a line such as "OutOfStock: nothing is left", the form in which many languages report the error
// that ended a program.
var namedError = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_.]*)(?:: ?(.*))?$`)

// commandError returns the error object for a command that failed.
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
		return []byte("{}") // strings can always be marshalled
	}
	return payload
}

// describesError reports whether payload is an error object as Lambda's runtimes write it.
func describesError(payload []byte) bool {
	var said struct {
		Type *string `json:"errorType"`
	}
	return json.Unmarshal(payload, &said) == nil && said.Type != nil
}
