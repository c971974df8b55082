package durable

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// badToken begins the messages about checkpoint tokens. AWS's SDKs recognize it and have the function invoked again.
const badToken = "Invalid Checkpoint Token: "

const macBytes = 8

func (x *Execution) mac(text string) string {
	m := hmac.New(sha256.New, []byte(x.start.Secret))
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil)[:macBytes])
}

// Token returns the token that the next checkpoint of the running invocation must have.
func (x *Execution) Token() string {
	t := fmt.Sprintf("%s/%d/%d", x.start.ID, x.invocation, x.sequence)
	return base64.StdEncoding.EncodeToString([]byte(t + "/" + x.mac(t)))
}

// checkToken returns the refusal of a token that is not the current one.
func (x *Execution) checkToken(token string) error {
	switch {
	case !x.invoking:
		return invalid(badToken + "No invocation of the durable execution is running.")
	case token != x.Token():
		return invalid(badToken + "It is not the latest one of the running invocation.")
	}
	return nil
}

// Knows reports whether the running invocation has had a token, as GetDurableExecutionState accepts it.
func (x *Execution) Knows(token string) bool {
	raw, err := base64.StdEncoding.DecodeString(token)
	if err != nil || !x.invoking {
		return false
	}
	i := strings.LastIndexByte(string(raw), '/')
	return i > 0 && strings.HasPrefix(string(raw), fmt.Sprintf("%s/%d/", x.start.ID, x.invocation)) &&
		hmac.Equal(raw[i+1:], []byte(x.mac(string(raw[:i]))))
}

// callbackID returns the ID of the callback of an operation. ParseCallbackID reverses it.
func (x *Execution) callbackID(operation string) string {
	t := x.start.ARN + "\x00" + operation
	return base64.StdEncoding.EncodeToString([]byte(t + "\x00" + x.mac(t)))
}

// ParseCallbackID returns the ARN of the execution that a callback ID belongs to. ok is false if the text is no
// callback ID. Whether the execution has such a callback is another question.
func ParseCallbackID(id string) (arn string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(id)
	if err != nil {
		return "", false
	}
	arn, rest, ok := strings.Cut(string(raw), "\x00")
	return arn, ok && strings.Contains(rest, "\x00")
}
