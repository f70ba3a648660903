// Reads documents as sigs.k8s.io/yaml does: a line of base64 in, a line out, J and the JSON or E and the error.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 1<<20), 1<<28)
	for sc.Scan() {
		b, err := base64.StdEncoding.DecodeString(sc.Text())
		if err != nil {
			panic(err)
		}
		j, err := yaml.YAMLToJSON(b)
		if err != nil {
			fmt.Fprintf(out, "E%s\n", base64.StdEncoding.EncodeToString([]byte(err.Error())))
		} else {
			fmt.Fprintf(out, "J%s\n", base64.StdEncoding.EncodeToString(hexKeys(j)))
		}
	}
}

// hexKeys writes keys in hexadecimal digits: JSON.parse of Node 24 to 26 mixes up keys that have escapes.
func hexKeys(text []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		panic(err)
	}
	result, err := json.Marshal(withHexKeys(value))
	if err != nil {
		panic(err)
	}
	return result
}

func withHexKeys(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		members := map[string]any{}
		for key, member := range typed {
			members[hex.EncodeToString([]byte(key))] = withHexKeys(member)
		}
		return members
	case []any:
		for index, item := range typed {
			typed[index] = withHexKeys(item)
		}
	}
	return value
}
