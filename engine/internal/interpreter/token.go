package interpreter

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"stepback/engine/internal/plan"
)

// Token is a task token taken apart: which task of which execution it is for, and the proof that the execution made it.
type Token struct {
	// Execution is the ARN of the execution, ID that of the task in it.
	Execution string
	ID        int64
	proof     [sha256.Size]byte
}

// tokenText is how tokens are written. Within the 1,024 characters of the API it leaves room for ARNs of 700.
var tokenText = base64.RawURLEncoding.Strict()

// tokenHead is how many bytes a token has in front of the ARN.
const tokenHead = sha256.Size + 8

// ParseToken takes a token apart. It reports false for what no execution can have made.
func ParseToken(text string) (Token, bool) {
	raw, err := tokenText.DecodeString(text)
	if err != nil || len(raw) <= tokenHead {
		return Token{}, false
	}
	t := Token{ID: int64(binary.BigEndian.Uint64(raw)), Execution: string(raw[tokenHead:])}
	copy(t.proof[:], raw[tokenHead-sha256.Size:])
	return t, true
}

// token makes the task token of the wait with this ID: it names the execution and the task, and only who knows the
// execution's secret can make it. The ID stands first so that no token begins with a hyphen, which command lines would
// take for an option.
func (x *Execution) token(id int64) string {
	proof := x.proof(id)
	raw := make([]byte, 0, tokenHead+len(x.info.ARN))
	raw = binary.BigEndian.AppendUint64(raw, uint64(id))
	raw = append(raw, proof[:]...)
	return tokenText.EncodeToString(append(raw, x.info.ARN...))
}

func (x *Execution) proof(id int64) (proof [sha256.Size]byte) {
	mac := hmac.New(sha256.New, []byte(x.secret))
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(id))
	mac.Write(b[:])
	mac.Write([]byte(x.info.ARN))
	mac.Sum(proof[:0])
	return proof
}

// Tokens reports whether the execution may hand tokens out, for which its Start event has to bring a secret.
func (x *Execution) Tokens() bool { return x.machine.Plan.Root.Tokens }

// Made reports whether the token is one that the execution has handed out.
func (x *Execution) Made(t Token) bool {
	proof := x.proof(t.ID)
	return t.ID > 0 && t.ID <= x.nextID && t.Execution == x.info.ARN && hmac.Equal(proof[:], t.proof[:])
}

// Awaits reports whether the task of this ID is under way, so that what its worker reports still counts.
func (x *Execution) Awaits(id int64) bool {
	w := x.waits[id]
	return w != nil && w.kind == taskResult && w.task.started && w.task.early == nil
}

// overtakes keeps the end of a task that was reported by its token before the request that carries the token was
// answered. The answer, which the history has first, ends the wait; until then the report cannot time out any more,
// since the worker knows that it counts.
func (x *Execution) overtakes(w *wait, e *Signal) bool {
	if w.task.Task.Target == plan.Activity || w.task.submission != nil || !e.Kind.EndsTask() {
		return false
	}
	early := *e
	early.ByToken = false
	w.task.early = &early
	x.out.Noted = true
	x.cancelTimer(&w.thread.timer)
	x.cancelTimer(&w.thread.heartbeat)
	return true
}

// Offers reports whether the activity task of this ID waits for a worker to take it.
func (x *Execution) Offers(id int64) bool {
	w := x.waits[id]
	return w != nil && w.kind == taskResult && w.task.Task.Target == plan.Activity && !w.task.started
}
