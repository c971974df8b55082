// Package operate implements the verbs that inspect and control a running system. Some show executions, histories,
// logs, mails and state machines. The others start, stop and redrive executions, and report the results of tasks.
package operate
