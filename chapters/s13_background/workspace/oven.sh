# Bakes until the bell rings, and then says what came of it.
echo "the oven is hot"
read -r ring < bell
echo "12 loaves are out, 3 of them burnt"
exit 1
