package main
import ("fmt";"os";"github.com/foretick/foretick/snapshot")
func dbg(frames []Frame, o Options) { var st snapshot.Statistics; r,_:=replay(frames,o,&st); reg,_:=newRegistry(o.Tables); st.Dump(reg,len(frames)); fmt.Fprintln(os.Stderr,r)
 r2,_:=replay(frames[:10],o,nil); fmt.Fprintln(os.Stderr,"first 10:",r2.BytesPerFrame*10, frames[0][:8]) }
