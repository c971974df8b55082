package interpreter

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"stepback/engine/internal/plan"
)

// Token is a parsed task token. It names the execution and the task that it belongs to, and holds the proof that
// the execution issued it.
type Token struct {
	// Execution is the ARN of the execution. ID is the ID of the task in the execution.
	Execution string
	ID        int64
	proof     [sha256.Size]byte
}

// tokenText is the encoding of tokens. It allows ARNs of 700 characters within the API's limit of 1,024 characters
// for a token.
var tokenText = base64.RawURLEncoding.Strict()

// tokenHead is the number of bytes before the ARN in a token.
const tokenHead = sha256.Size + 8

// ParseToken parses a token. It returns false for text that no execution can have issued.
func ParseToken(text string) (Token, bool) {
	raw, err := tokenText.DecodeString(text)
	if err != nil || len(raw) <= tokenHead {
		return Token{}, false
	}
	t := Token{ID: int64(binary.BigEndian.Uint64(raw)), Execution: string(raw[tokenHead:])}
	copy(t.proof[:], raw[tokenHead-sha256.Size:])
	return t, true
}

// token returns the task token for the wait with this ID. The token identifies the execution and the task, and
// cannot be forged without the execution's secret. It begins with the ID, so that no token starts with a hyphen,
// which command lines would take for an option.
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

// Tokens reports whether the execution may issue tokens. If so, its Start signal must carry a secret.
func (x *Execution) Tokens() bool { return x.machine.Plan.Root.Tokens }

// Made reports whether this execution has issued the token.
func (x *Execution) Made(t Token) bool {
	proof := x.proof(t.ID)
	return t.ID > 0 && t.ID <= x.nextID && t.Execution == x.info.ARN && hmac.Equal(proof[:], t.proof[:])
}

// Awaits reports whether the task with this ID is running, so that reports of its worker still count.
func (x *Execution) Awaits(id int64) bool {
	w := x.waits[id]
	return w != nil && w.kind == taskResult && w.task.started && w.task.early == nil
}

// keepEarlyReport stores the end of a task that a worker reported before the request that carries the task's token
// was answered. It reports whether it has stored one. The history must contain the response to the request first,
// so the wait ends when the response arrives. Until then the task cannot time out, because its end has already been
// reported.
func (x *Execution) keepEarlyReport(w *wait, e *Signal) bool {
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

// Offers reports whether the activity task with this ID is waiting for a worker.
func (x *Execution) Offers(id int64) bool {
	w := x.waits[id]
	return w != nil && w.kind == taskResult && w.task.Task.Target == plan.Activity && !w.task.started
}
