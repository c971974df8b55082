// Package processgroup starts processes that end together with everything they have started: when they are killed, and
// when this process ends, however it ends. It never looks into what they do. What leaves its process group (by setsid,
// as daemons do) is out of its reach, and so is everything on systems other than Unix, where only the process itself is
// killed.
package processgroup
