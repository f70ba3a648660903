// resource.Quantity as a filter: one text in JSON on each line of stdin, one answer on each line of stdout.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

type answer struct {
	Error string `json:"error,omitempty"`
	// Canonical is the text that is stored.
	Canonical string `json:"canonical,omitempty"`
	Format    string `json:"format,omitempty"`
	Sign      int    `json:"sign"`
	// Nanos is the value in billionths.
	Nanos string `json:"nanos,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<26)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var text string
		_ = json.Unmarshal(lines.Bytes(), &text)
		var a answer
		q, err := resource.ParseQuantity(text)
		if err != nil {
			a.Error = err.Error()
		} else {
			a.Sign, a.Format = q.Sign(), string(q.Format)
			a.Canonical = q.String()
			nanos := q.DeepCopy()
			unscaled := nanos.AsDec()
			unscaled.SetScale(unscaled.Scale() - 9)
			a.Nanos = unscaled.Round(unscaled, 0, inf.RoundUp).String()
		}
		line, _ := json.Marshal(a)
		out.Write(line)
		out.WriteByte('\n')
	}
}
