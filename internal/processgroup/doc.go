// Package processgroup starts processes that end together with all their descendants: when they are killed, and
// when this process ends, for whatever reason. It never inspects what they do. Processes that leave the group (by
// setsid, as daemons do) cannot be killed this way. On systems other than Unix only the process itself is killed.
package processgroup
