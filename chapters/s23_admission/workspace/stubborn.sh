# Ignores TERM. Its child inherits that.
trap '' TERM
sleep 300 &
touch ready
wait
