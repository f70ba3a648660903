package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// encode reads pods in JSON and writes them as protobuf: as the body of a list, or as one frame of a watch each.
func encode(shape string) {
	pods := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	if shape == "list" {
		encodeList(pods, out)
	} else {
		encodeFrames(pods, out)
	}
	if err := out.Flush(); err != nil {
		panic(err)
	}
}

func next(pods *json.Decoder) *corev1.Pod {
	pod := &corev1.Pod{}
	if err := pods.Decode(pod); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		panic(err)
	}
	return pod
}

func encodeList(pods *json.Decoder, out io.Writer) {
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	newest := uint64(0)
	for pod := next(pods); pod != nil; pod = next(pods) {
		version, err := strconv.ParseUint(pod.ResourceVersion, 10, 64)
		if err != nil {
			panic(err)
		}
		newest = max(newest, version)
		pod.TypeMeta = metav1.TypeMeta{}
		list.Items = append(list.Items, *pod)
	}
	list.ResourceVersion = strconv.FormatUint(newest, 10)
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(list, out); err != nil {
		panic(err)
	}
}

func encodeFrames(pods *json.Decoder, out io.Writer) {
	object := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	event := protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme)
	frames := protobuf.LengthDelimitedFramer.NewFrameWriter(out)
	for pod := next(pods); pod != nil; pod = next(pods) {
		raw, err := runtime.Encode(object, pod)
		if err != nil {
			panic(err)
		}
		sent := &metav1.WatchEvent{Type: string(watch.Modified), Object: runtime.RawExtension{Raw: raw}}
		if err := event.Encode(sent, frames); err != nil {
			panic(err)
		}
	}
}
