# A server that ends for nothing but SIGKILL, and has one like it below.
trap "" TERM HUP INT PIPE
sleep 1000 <&- >&- 2>&- &
echo $$ $! > pids.new && mv pids.new pids
while :; do sleep 1000 2>&-; done
