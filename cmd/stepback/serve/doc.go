// Package serve implements the server of AWS's APIs on this machine, the list of its services, and the verbs that
// inject faults into it while it runs.
package serve
