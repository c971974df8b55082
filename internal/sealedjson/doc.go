// Package sealedjson gives files with one JSON object a checksum: a seal, which is the object's last member, with a
// generation that grows with each write.
package sealedjson
